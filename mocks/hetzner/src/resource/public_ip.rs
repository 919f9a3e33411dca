//! What the addresses that the world can reach have in common: where they come from, how they look, and the names that
//! they are known by in the reverse. Whose they are is the business of their rooms.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::address::{Exhausted, default_pointer};
use crate::call::{Answer, Body, Wrong, word};
use crate::project::Project;
use crate::resource::{Kind, host_name};

/// Names set for addresses.
pub(crate) type Names = BTreeMap<IpAddr, String>;

/// How many addresses of a network may have a name.
const NAMES_MOST: usize = 100;

/// The versions as words.
pub(crate) const VERSIONS: [(&str, bool); 2] = [("ipv4", true), ("ipv6", false)];

pub(crate) fn version(v4: bool) -> &'static str {
    word(&VERSIONS, v4)
}

/// An address that nobody has: one of version 4, or the first of a network of version 6.
pub(crate) fn take(project: &mut Project, v4: bool, location: &str) -> Result<IpAddr, Wrong> {
    Ok(if v4 { project.pools.take_ipv4(location)?.into() } else { project.pools.take_ipv6(location)?.into() })
}

impl From<Exhausted> for Wrong {
    fn from(exhausted: Exhausted) -> Self {
        Self::new("resource_unavailable", exhausted.to_string())
    }
}

/// Refuses if a new address of version 4 is wanted and none is left in a location. Of version 6 there are always some.
pub(crate) fn available(project: &Project, location: &str, v4: bool) -> Result<(), Wrong> {
    if v4 && !project.pools.has_ipv4(location) {
        return Err(Exhausted { location: location.to_owned() }.into());
    }
    Ok(())
}

/// What is answered to an order: the address and, if it goes to a server at once, the work on that.
pub(crate) fn made(kind: Kind, shown: Value, action: Option<Value>) -> Answer {
    let named = [(kind.word(), Some(shown)), ("action", action)];
    let fields = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Answer::created(Value::Object(fields.collect()))
}

/// As it is shown: of version 6 the whole network.
pub(crate) fn text(own: IpAddr) -> String {
    if own.is_ipv4() { own.to_string() } else { format!("{own}/64") }
}

/// The name of an address of version 4, which it always has.
pub(crate) fn name(own: IpAddr, names: &Names) -> Option<String> {
    let IpAddr::V4(v4) = own else { return None };
    Some(names.get(&own).cloned().unwrap_or_else(|| default_pointer(v4)))
}

/// All names that lead back to it.
pub(crate) fn show_names(own: IpAddr, names: &Names) -> Vec<Value> {
    let show = |ip: &IpAddr, name: &str| json!({"ip": ip, "dns_ptr": name});
    match name(own, names) {
        Some(name) => vec![show(&own, &name)],
        None => names.iter().map(|(ip, name)| show(ip, name)).collect(),
    }
}

/// Whether an address is this one, or lies in its network.
pub(crate) fn covers(own: IpAddr, ip: IpAddr) -> bool {
    match (own, ip) {
        (IpAddr::V6(own), IpAddr::V6(ip)) => own.segments()[..4] == ip.segments()[..4],
        _ => own == ip,
    }
}

/// Another name for an address; none is the one from before anybody set one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Renaming {
    ip: IpAddr,
    name: Option<String>,
}

impl Renaming {
    /// Reads what a body asks for. It may name another address than the one it is for: see [`Renaming::fits`].
    pub(crate) fn read(body: &mut Body) -> Option<Self> {
        let ip = body.needed("ip", |body, field| {
            let ip = body.text(field)?.parse().ok();
            if ip.is_none() {
                body.wrong(field, "Not a valid IP address.");
            }
            ip
        });
        let name = host_name::read(body, "dns_ptr");
        Some(Self { ip: ip?, name })
    }

    /// Refuses an address that is not its own, and more names than a network can have.
    pub(crate) fn fits(asked: Option<Self>, own: IpAddr, names: &Names) -> Result<Self, Wrong> {
        let Some(asked) = asked.filter(|asked| covers(own, asked.ip)) else {
            return Err(Wrong::invalid("ip", format!("Not an address of {}.", text(own))));
        };
        if asked.name.is_some() && !names.contains_key(&asked.ip) && names.len() >= NAMES_MOST {
            return Err(Wrong::invalid(
                "ip",
                format!("No more than {NAMES_MOST} addresses can have a name."),
            ));
        }
        Ok(asked)
    }

    /// Which address it is about.
    pub(crate) fn ip(&self) -> IpAddr {
        self.ip
    }

    pub(crate) fn apply(self, names: &mut Names) {
        match self.name {
            Some(name) => names.insert(self.ip, name),
            None => names.remove(&self.ip),
        };
    }
}
