//! `POST /load_balancers`: everything is checked before anything is made, so a refusal leaves nothing behind.

use mock_clock::Time;
use serde_json::{Value, json};

use crate::action::Undertaking;
use crate::address::Exhausted;
use crate::call::{Answer, Answered, Body, Call, IdOrName, Wrong};
use crate::catalogue::{LoadBalancerType, Location};
use crate::profile::Profile;
use crate::project::{Project, quota};
use crate::resource::load_balancer::service::Service;
use crate::resource::load_balancer::show::show;
use crate::resource::load_balancer::target::{self, Reach, Target};
use crate::resource::load_balancer::{Algorithm, Load, LoadBalancer, reading};
use crate::resource::network::{self, Membership, Wanted};
use crate::resource::primary_ip::Assignee;
use crate::resource::shelf::Labels;
use crate::resource::{Kind, offer, primary_ip, public_ip};

/// Names beyond this are refused.
const LONGEST_NAME: usize = 128;

/// What a body asks for.
struct Wish {
    name: String,
    balancer_type: IdOrName,
    location: Option<IdOrName>,
    zone: Option<String>,
    algorithm: Algorithm,
    services: Vec<Service>,
    targets: Vec<Target>,
    network: Option<u64>,
    public: bool,
    /// Primary IPs that are there, of versions 4 and 6. Others are made with it and go with it.
    given: [Option<u64>; 2],
    labels: Labels,
}

/// What it comes to, after all checks.
struct Order {
    balancer_type: String,
    location: String,
    membership: Option<Membership>,
}

pub(super) fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let wish = call.asked(|body| read(body, project.profile))?;
    let order = check(project, call.now, &wish)?;
    let network = wish.network;
    let id = make(project, call, wish, order)?;
    let created = match network {
        // It joins its network on the way, so there is one action.
        Some(network) => Undertaking::on("create_load_balancer", Kind::LoadBalancer, id)
            .effect(network::Effect::Joined { kind: Kind::LoadBalancer, id, network }),
        None => Undertaking::on("create_load_balancer", Kind::LoadBalancer, id),
    };
    let created = project.begin(call.now, created);
    let balancer = project.load_balancers.find(id).map_or(Value::Null, |it| show(project, it));
    Ok(Answer::created(json!({"load_balancer": balancer, "action": project.action(created)})))
}

fn read(body: &mut Body, profile: Profile) -> Wish {
    let wish = Wish {
        name: body.required("name", name),
        balancer_type: body.required("load_balancer_type", Body::id_or_name),
        location: body.id_or_name("location"),
        zone: body.text("network_zone"),
        algorithm: body.object("algorithm", algorithm).unwrap_or(Algorithm::RoundRobin),
        services: body.each("services", reading::new).unwrap_or_default(),
        targets: body.each("targets", target::read).unwrap_or_default(),
        network: body.id("network"),
        public: body.flag("public_interface").unwrap_or(true),
        given: if profile < Profile::Current { [None; 2] } else { given(body) },
        labels: body.labels().unwrap_or_default(),
    };
    match (&wish.location, &wish.zone) {
        (Some(_), Some(_)) => body.wrong("network_zone", "Must not be given together with location."),
        (None, None) => body.wrong("location", "Either location or network_zone is needed."),
        _ => {}
    }
    wish
}

fn given(body: &mut Body) -> [Option<u64>; 2] {
    body.object("public_net", |net| ["ipv4", "ipv6"].map(|version| net.id(version))).unwrap_or_default()
}

/// The name of a load balancer has no space at its ends.
pub(super) fn name(body: &mut Body, field: &str) -> Option<String> {
    let name = body.text(field)?;
    if !(1..=LONGEST_NAME).contains(&name.chars().count()) {
        body.wrong(field, format!("Length must be between 1 and {LONGEST_NAME}."));
    } else if name.trim() != name {
        body.wrong(field, "Must not begin or end with a space.");
    }
    Some(name)
}

pub(super) fn algorithm(body: &mut Body) -> Algorithm {
    let word = body.needed("type", |body, field| body.word(field, &Algorithm::WORDS));
    word.unwrap_or(Algorithm::RoundRobin)
}

fn check(project: &mut Project, now: Time, wish: &Wish) -> Result<Order, Wrong> {
    project.load_balancers.free_name(&wish.name, None)?;
    let balancer_type = orderable_type(project, now, &wish.balancer_type)?;
    let location = place(project, wish)?;
    check_services(project, &wish.services)?;
    let membership = match wish.network {
        Some(network) => {
            let wanted = Wanted { network, zone: &location.network_zone, ..Wanted::default() };
            Some(network::place(project, &wanted)?)
        }
        None => None,
    };
    let reach = Reach { network: wish.network, public: wish.public };
    for (index, target) in wish.targets.iter().enumerate() {
        target.check(project, reach, wish.targets.get(..index).unwrap_or_default())?;
    }
    Load { services: &wish.services, targets: &wish.targets }.fits(balancer_type)?;
    quota::load_balancers(project)?;
    let balancer_type = balancer_type.name.clone();
    check_addresses(project, now, wish.given, &location.name)?;
    Ok(Order { balancer_type, location: location.name, membership })
}

/// The type that is asked for, if it can still be had.
pub(super) fn orderable_type<'a>(
    project: &'a Project,
    now: Time,
    wanted: &IdOrName,
) -> Result<&'a LoadBalancerType, Wrong> {
    let catalogue = &project.catalogue;
    let by_id = || wanted.id().and_then(|id| catalogue.load_balancer_type_by_id(id));
    let found = catalogue.load_balancer_type(&wanted.0).or_else(by_id);
    let sold = |it: &&LoadBalancerType| it.deprecation.is_none_or(|deprecation| !deprecation.is_over(now));
    found.filter(sold).ok_or_else(|| {
        Wrong::invalid("load_balancer_type", format!("Load Balancer type '{}' does not exist.", wanted.0))
    })
}

/// In a network zone, the cloud picks the first location.
fn place(project: &Project, wish: &Wish) -> Result<Location, Wrong> {
    if let Some(location) = &wish.location {
        return offer::location(project, location, "location");
    }
    let in_zone = |it: &&Location| Some(&it.network_zone) == wish.zone.as_ref();
    let found = project.catalogue.locations.iter().find(in_zone).cloned();
    found.ok_or_else(|| Wrong::invalid("network_zone", "Unknown network zone."))
}

/// Refuses services that get in each other's way or name certificates that are not there.
pub(super) fn check_services(project: &Project, services: &[Service]) -> Result<(), Wrong> {
    let mut taken: Vec<u16> = Vec::new();
    for service in services {
        for port in service.ports() {
            if taken.contains(&port) {
                let message = format!("the source port {port} is already in use");
                return Err(Wrong::new("source_port_already_used", message));
            }
            taken.push(port);
        }
        for certificate in service.certificates() {
            project.certificates.get(*certificate)?;
        }
    }
    Ok(())
}

/// Refuses addresses that it cannot have, and if those that it needs beside them are not left.
fn check_addresses(
    project: &mut Project,
    now: Time,
    given: [Option<u64>; 2],
    location: &str,
) -> Result<(), Wrong> {
    for (id, v4) in given.into_iter().zip([true, false]) {
        match id {
            Some(id) => primary_ip::assignable(project, id, v4, location)?,
            None => public_ip::available(project, location, v4)?,
        }
    }
    if given.contains(&None) { project.addresses_left(now, location) } else { Ok(()) }
}

fn make(project: &mut Project, call: &Call<'_>, wish: Wish, order: Order) -> Result<u64, Wrong> {
    let head = project.load_balancers.head(call.now, wish.name, wish.labels);
    let id = head.id;
    let mut address = |given: Option<u64>, v4: bool| {
        let assignee = Assignee::LoadBalancer { id, included: given.is_none() };
        match given {
            Some(given) => primary_ip::assign(project, given, assignee),
            None => primary_ip::grant(project, call, v4, &order.location, assignee),
        }
    };
    let [ipv4, ipv6] = wish.given;
    let addresses = [address(ipv4, true), address(ipv6, false)];
    let [Some(ipv4), Some(ipv6)] = addresses else {
        primary_ip::release(project, call, addresses);
        return Err(Exhausted { location: order.location }.into());
    };
    project.load_balancers.put(LoadBalancer {
        head,
        balancer_type: order.balancer_type,
        location: order.location,
        algorithm: wish.algorithm,
        services: wish.services,
        targets: wish.targets,
        networks: order.membership.into_iter().collect(),
        public: wish.public,
        ipv4,
        ipv6,
    });
    project.opened(call, Kind::LoadBalancer, id);
    Ok(id)
}
