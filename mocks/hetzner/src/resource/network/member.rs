//! Who is in a network, as a list of its own.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use crate::action::Action;
use crate::address::Range;
use crate::call::{Answered, Call, Wrong, paged};
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::network::{Membership, members};

const SORTABLE: [&str; 4] = ["id", "type", "status", "ip"];

struct Member<'a> {
    kind: Kind,
    id: u64,
    place: &'a Membership,
    subnet: Option<Range>,
    status: &'static str,
}

pub(super) fn all(project: &Project, call: &Call<'_>) -> Answered {
    if project.profile < Profile::Current {
        return Err(Wrong::no_such_path());
    }
    let network = project.networks.get(call.id())?;
    let last = last_actions(project, call.id());
    let subnet = |ip: Ipv4Addr| network.plan.subnets().iter().map(|it| it.range).find(|it| it.holds(ip));
    let all: Vec<Member<'_>> = members(project, call.id())
        .map(|(kind, id, place)| {
            let status = status(place, last.get(&(kind, id)).copied());
            Member { kind, id, place, subnet: subnet(place.ip), status }
        })
        .collect();
    let wanted = |it: &&Member<'_>| {
        call.query.wants("type", it.kind.word())
            && call.query.wants("status", it.status)
            && call.query.wants("subnet", &it.subnet.map(|range| range.to_string()).unwrap_or_default())
    };
    paged(call, "members", all.iter().filter(wanted).collect(), &SORTABLE, compare, show)
}

/// The last that was done about the place of each who is in the network.
fn last_actions(project: &Project, network: u64) -> BTreeMap<(Kind, u64), &Action> {
    let about = project.actions.all().filter(|action| action.concerns(Kind::Network, network));
    about.filter_map(|action| Some((*action.resources.first()?, action))).collect()
}

fn status(place: &Membership, last: Option<&Action>) -> &'static str {
    match last.map(|action| (action.status(), action.command.as_str())) {
        _ if place.pending => "attaching",
        Some(("running", "detach_from_network")) => "detaching",
        Some(("running", _)) => "updating",
        Some(("error", _)) => "error",
        _ => "ok",
    }
}

fn show(member: &Member<'_>) -> Value {
    json!({
        "type": member.kind.word(),
        "id": member.id,
        "ip": member.place.ip,
        "alias_ips": member.place.alias_ips,
        "subnet": member.subnet,
        "status": member.status,
    })
}

fn compare(a: &Member<'_>, b: &Member<'_>, field: &str) -> Ordering {
    match field {
        "type" => a.kind.word().cmp(b.kind.word()),
        "status" => a.status.cmp(b.status),
        "ip" => a.place.ip.cmp(&b.place.ip),
        _ => a.id.cmp(&b.id),
    }
}
