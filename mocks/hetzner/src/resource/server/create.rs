//! `POST /servers`: everything is checked before anything is made, so a refusal leaves nothing behind.

use mock_clock::Time;
use serde_json::{Value, json};

use crate::action::Undertaking;
use crate::call::{Answer, Answered, Body, Call, IdOrName, Wrong};
use crate::catalogue::{Location, ServerType};
use crate::project::{Project, quota};
use crate::resource::network::Membership;
use crate::resource::primary_ip::Assignee;
use crate::resource::server::{Effect, Server, Status, show};
use crate::resource::shelf::Labels;
use crate::resource::{
    Kind, firewall, host_name, image, network, offer, placement_group, primary_ip, public_ip, ssh_key, volume,
};

/// What user data may measure.
const USER_DATA_BYTES: usize = 32 << 10;

/// What a body asks for.
struct Wish {
    name: String,
    server_type: IdOrName,
    image: IdOrName,
    location: Option<IdOrName>,
    datacenter: Option<IdOrName>,
    ssh_keys: Vec<IdOrName>,
    volumes: Vec<u64>,
    networks: Vec<u64>,
    firewalls: Vec<u64>,
    placement_group: Option<u64>,
    public: Public,
    labels: Labels,
    automount: bool,
    start: bool,
}

/// Which public addresses it asks for.
struct Public {
    ipv4: Option<Address>,
    ipv6: Option<Address>,
}

impl Public {
    fn is_any(&self) -> bool {
        self.ipv4.is_some() || self.ipv6.is_some()
    }
}

#[derive(Clone, Copy)]
enum Address {
    /// One that is there.
    Given(u64),
    /// One that is made with the server and goes with it.
    New,
}

/// What it comes to, after all checks.
struct Order {
    server_type: ServerType,
    location: Location,
    image: u64,
    has_key: bool,
    memberships: Vec<Membership>,
}

pub(super) fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let wish = call.asked(read)?;
    let order = check(project, call.now, &wish)?;
    let server = make(project, call, &wish, &order);
    Ok(begin(project, call.now, &wish, &order, server))
}

fn read(body: &mut Body) -> Wish {
    let wish = Wish {
        name: body.required("name", host_name::read),
        server_type: body.required("server_type", Body::id_or_name),
        image: body.required("image", Body::id_or_name),
        location: body.id_or_name("location"),
        datacenter: body.id_or_name("datacenter"),
        ssh_keys: body.ids_or_names("ssh_keys").unwrap_or_default(),
        volumes: body.ids("volumes").unwrap_or_default(),
        networks: body.ids("networks").unwrap_or_default(),
        firewalls: body.each("firewalls", |item| item.required("firewall", Body::id)).unwrap_or_default(),
        placement_group: body.id("placement_group"),
        public: public(body),
        labels: body.labels().unwrap_or_default(),
        automount: body.flag("automount").unwrap_or(false),
        start: body.flag("start_after_create").unwrap_or(true),
    };
    user_data(body);
    if wish.location.is_some() && wish.datacenter.is_some() {
        body.wrong("location", "Must not be given together with datacenter.");
    }
    if !wish.public.is_any() && wish.networks.is_empty() {
        body.wrong("public_net", "At least one of IPv4, IPv6 and a network is needed.");
    }
    wish
}

/// Accepts user data of a size that it may have. Nothing runs it.
pub(super) fn user_data(body: &mut Body) {
    if body.text("user_data").is_some_and(|data| data.len() > USER_DATA_BYTES) {
        body.wrong("user_data", format!("Longer than maximum length {USER_DATA_BYTES}."));
    }
}

fn public(body: &mut Body) -> Public {
    let read = |net: &mut Body| {
        let mut address = |enable: &str, given: &str| {
            let enabled = net.flag(enable).unwrap_or(true);
            let given = net.id(given);
            enabled.then(|| given.map_or(Address::New, Address::Given))
        };
        Public { ipv4: address("enable_ipv4", "ipv4"), ipv6: address("enable_ipv6", "ipv6") }
    };
    body.object("public_net", read).unwrap_or(Public { ipv4: Some(Address::New), ipv6: Some(Address::New) })
}

fn check(project: &mut Project, now: Time, wish: &Wish) -> Result<Order, Wrong> {
    project.servers.free_name(&wish.name, None)?;
    let server_type = offer::orderable_type(project, now, &wish.server_type)?;
    let location = offer::place(project, wish.location.as_ref(), wish.datacenter.as_ref())?;
    offer::sold_in(now, &server_type, &location)?;
    let image = image::bootable(project, now, &wish.image, &server_type)?;
    for key in &wish.ssh_keys {
        ssh_key::resolve(project, key)?;
    }
    firewall::all_applicable(project, &wish.firewalls, &wish.labels, wish.public.is_any())?;
    volume::all_attachable(project, &wish.volumes, &location.name)?;
    let memberships = memberships(project, wish, &location)?;
    let mut new_addresses = 0;
    for (address, v4) in [(wish.public.ipv4, true), (wish.public.ipv6, false)] {
        match address {
            Some(Address::Given(id)) => primary_ip::assignable(project, id, v4, &location.name)?,
            Some(Address::New) => new_addresses += 1,
            None => {}
        }
    }
    if let Some(id) = wish.placement_group {
        placement_group::has_room(project, id)?;
    }
    quota::servers(project, now, &server_type)?;
    quota::primary_ips(project, now, new_addresses)?;
    public_ip::available(project, &location.name, matches!(wish.public.ipv4, Some(Address::New)))?;
    if new_addresses > 0 {
        project.addresses_left(now, &location.name)?;
    }
    project.in_stock(now, &server_type.name, &location.name)?;
    Ok(Order { server_type, location, image, has_key: !wish.ssh_keys.is_empty(), memberships })
}

fn memberships(project: &Project, wish: &Wish, location: &Location) -> Result<Vec<Membership>, Wrong> {
    let mut all: Vec<Membership> = Vec::with_capacity(wish.networks.len());
    for id in &wish.networks {
        if all.iter().any(|known| known.network == *id) {
            return Err(Wrong::invalid("networks", format!("Network {id} is named twice.")));
        }
        let wanted =
            network::Wanted { network: *id, zone: &location.network_zone, ..network::Wanted::default() };
        network::apart(project, *id, &all)?;
        all.push(network::place(project, &wanted)?);
    }
    Ok(all)
}

/// Puts the server and all that comes with it.
fn make(project: &mut Project, call: &Call<'_>, wish: &Wish, order: &Order) -> u64 {
    let head = project.servers.head(call.now, wish.name.clone(), wish.labels.clone());
    let id = head.id;
    let location = &order.location.name;
    let mut address = |wanted: Option<Address>, v4: bool| match wanted? {
        Address::Given(given) => primary_ip::assign(project, given, Assignee::Server(id)),
        Address::New => primary_ip::grant(project, call, v4, location, Assignee::Server(id)),
    };
    let (ipv4, ipv6) = (address(wish.public.ipv4, true), address(wish.public.ipv6, false));
    project.servers.put(Server {
        head,
        status: Status::Initializing,
        server_type: order.server_type.name.clone(),
        becoming: None,
        location: location.clone(),
        image: Some(order.image),
        ipv4,
        ipv6,
        networks: order.memberships.clone(),
        placement_group: wish.placement_group,
        rebuild_kept: false,
        backup_window: None,
        rescue_until: None,
        has_key: order.has_key,
        iso: None,
        disk_gb: order.server_type.disk,
    });
    if let Some(group) = wish.placement_group.and_then(|group| project.placement_groups.find_mut(group)) {
        group.members.insert(id);
    }
    for firewall in &wish.firewalls {
        // It may be named twice.
        if let Some(firewall) = project.firewalls.find_mut(*firewall).filter(|it| !it.servers.contains(&id)) {
            firewall.servers.push(id);
        }
    }
    project.opened(call, Kind::Server, id);
    id
}

/// Begins everything that is to be done, and shows it.
fn begin(project: &mut Project, now: Time, wish: &Wish, order: &Order, id: u64) -> Answer {
    let created = Undertaking::on("create_server", Kind::Server, id)
        .effect(Effect::Created { server: id, start: wish.start });
    let created = project.begin(now, created);
    let mut next: Vec<Value> = Vec::new();
    if wish.start {
        let effect = Effect::Becomes { server: id, status: Status::Running, otherwise: Status::Off };
        let start = Undertaking::on("start_server", Kind::Server, id).after(created.ends).effect(effect);
        let start = project.begin(now, start);
        next.push(project.action(start));
    }
    for membership in &order.memberships {
        let attached = project.begin(now, network::attaching(id, membership.network).after(created.ends));
        next.push(project.action(attached));
    }
    for volume in &wish.volumes {
        let attached = volume::attach(project, now, *volume, id, wish.automount, created.ends);
        next.push(project.action(attached));
    }
    let password = (!order.has_key).then(|| project.chance.word(20));
    let server = project.servers.find(id).map_or(Value::Null, |server| show(project, server));
    Answer::created(json!({
        "server": server,
        "action": project.action(created),
        "next_actions": next,
        "root_password": password,
    }))
}
