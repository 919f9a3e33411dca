//! The routes of floating IPs themselves: list, get, create, update, delete. Leading them to servers is next door.

use serde_json::json;

use crate::action::action_routes;
use crate::call::{Answer, Answered, Body, Call, IdOrName, Route, Wrong, change, list, look};
use crate::profile::Profile;
use crate::project::{Project, quota};
use crate::resource::floating_ip::{FloatingIp, assign, show::show};
use crate::resource::public_ip::{self, Names, VERSIONS};
use crate::resource::shelf::Labels;
use crate::resource::{Kind, offer, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/floating_ips", all),
    look("/floating_ips/{id}", one),
    change("POST", "/floating_ips", create),
    change("PUT", "/floating_ips/{id}", update),
    change("DELETE", "/floating_ips/{id}", delete),
    change("POST", "/floating_ips/{id}/actions/assign", assign::assign),
    change("POST", "/floating_ips/{id}/actions/unassign", assign::unassign),
    change("POST", "/floating_ips/{id}/actions/change_dns_ptr", assign::change_dns_ptr),
    change("POST", "/floating_ips/{id}/actions/change_protection", change_protection),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/floating_ips", FloatingIp);

fn all(project: &Project, call: &Call<'_>) -> Answered {
    list(call, "floating_ips", &project.floating_ips, |_| true, |ip| show(project, ip))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"floating_ip": show(project, project.floating_ips.get(call.id())?)})))
}

/// What a body asks for.
struct Wish {
    name: Option<String>,
    description: Option<String>,
    labels: Labels,
    v4: bool,
    server: Option<u64>,
    home: Option<IdOrName>,
}

fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let wish = call.asked(read)?;
    if let Some(name) = &wish.name {
        project.floating_ips.free_name(name, None)?;
    }
    let location = place(project, &wish)?;
    quota::floating_ips(project)?;
    project.addresses_left(call.now, &location)?;
    let ip = public_ip::take(project, wish.v4, &location)?;
    let Wish { name, description, labels, v4, server, .. } = wish;
    let mut head = project.floating_ips.head(call.now, name.unwrap_or_default(), labels);
    if head.name.is_empty() {
        head.name = format!("floating_ip-{}", head.id);
    }
    let made = FloatingIp { head, description, v4, ip, location, server: None, dns_ptr: Names::new() };
    let id = project.floating_ips.put(made);
    project.opened(call, Kind::FloatingIp, id);
    let action = server.map(|server| {
        let begun = assign::begin(project, call.now, id, server);
        project.action(begun)
    });
    let shown = show(project, project.floating_ips.get(id)?);
    Ok(public_ip::made(Kind::FloatingIp, shown, action))
}

fn read(body: &mut Body) -> Wish {
    let wish = Wish {
        name: upkeep::name(body, "name"),
        description: body.text("description"),
        labels: body.labels().unwrap_or_default(),
        v4: body.required("type", |body, field| body.word(field, &VERSIONS)),
        server: body.id("server"),
        home: body.id_or_name("home_location"),
    };
    if wish.home.is_none() && wish.server.is_none() {
        body.wrong("home_location", "Missing data for required field.");
    }
    wish
}

/// Where it is at home: where its server is if nobody says.
fn place(project: &Project, wish: &Wish) -> Result<String, Wrong> {
    let at = match wish.server {
        Some(server) => project.servers.get(server)?.location.clone(),
        None => String::new(),
    };
    match &wish.home {
        Some(home) => Ok(offer::location(project, home, "home_location")?.name),
        None => Ok(at),
    }
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    project.floating_ips.get(id)?;
    let (naming, description) =
        call.asked(|body| (upkeep::naming(body, upkeep::name), body.text("description")))?;
    upkeep::set(project, id, |project| &mut project.floating_ips, naming)?;
    if description.is_some() {
        project.floating_ips.get_mut(id)?.description = description;
    }
    one(project, call)
}

fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = project.floating_ips.get(id)?;
    upkeep::deletable(ip)?;
    // Until May 2026 it was taken from its server.
    if ip.server.is_some() && project.profile >= Profile::June2026 {
        return Err(Wrong::new("must_be_unassigned", "floating IP must be unassigned"));
    }
    project.unlocked(Kind::FloatingIp, id)?;
    project.closed(call, Kind::FloatingIp, id);
    if let Some(ip) = project.floating_ips.take(id) {
        project.pools.give_back(ip.ip);
    }
    Ok(Answer::nothing())
}

fn change_protection(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::change_protection(project, call, |project| &mut project.floating_ips)
}
