//! The routes of primary IPs themselves: list, get, create, update, delete. Giving them to servers is next door.

use serde_json::json;

use crate::action::action_routes;
use crate::call::{Answer, Answered, Body, Call, IdOrName, Route, Wrong, change, list, look};
use crate::profile::Profile;
use crate::project::{Project, quota};
use crate::resource::primary_ip::{Assignee, PrimaryIp, assign, known, put, remove, show::show};
use crate::resource::public_ip::{self, Names, VERSIONS};
use crate::resource::shelf::Labels;
use crate::resource::{Kind, offer, server, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/primary_ips", all),
    look("/primary_ips/{id}", one),
    change("POST", "/primary_ips", create),
    change("PUT", "/primary_ips/{id}", update),
    change("DELETE", "/primary_ips/{id}", delete),
    change("POST", "/primary_ips/{id}/actions/assign", assign::assign),
    change("POST", "/primary_ips/{id}/actions/unassign", assign::unassign),
    change("POST", "/primary_ips/{id}/actions/change_dns_ptr", assign::change_dns_ptr),
    change("POST", "/primary_ips/{id}/actions/change_protection", change_protection),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/primary_ips", PrimaryIp);

fn all(project: &Project, call: &Call<'_>) -> Answered {
    let wanted = |ip: &PrimaryIp| {
        let asked = call.query.first("ip").filter(|asked| !asked.is_empty());
        ip.is_known(project.profile)
            && asked.is_none_or(|asked| asked == public_ip::text(ip.ip) || asked == ip.ip.to_string())
    };
    list(call, "primary_ips", &project.primary_ips, wanted, |ip| show(project, ip))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"primary_ip": show(project, known(project, call.id())?)})))
}

/// What a body asks for.
struct Wish {
    name: String,
    labels: Labels,
    v4: bool,
    server: Option<u64>,
    location: Option<IdOrName>,
    datacenter: Option<IdOrName>,
    auto_delete: bool,
}

fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let wish = call.asked(|body| read(body, project.profile))?;
    project.primary_ips.free_name(&wish.name, None)?;
    let location = place(project, &wish)?;
    quota::primary_ips(project, call.now, 1)?;
    public_ip::available(project, &location, wish.v4)?;
    project.addresses_left(call.now, &location)?;
    let ip = public_ip::take(project, wish.v4, &location)?;
    let head = project.primary_ips.head(call.now, wish.name, wish.labels);
    let Wish { v4, server, auto_delete, .. } = wish;
    let made = PrimaryIp { head, v4, ip, location, assignee: None, auto_delete, dns_ptr: Names::new() };
    let id = put(project, call, made);
    let action = server.map(|server| {
        let begun = assign::begin(project, call.now, id, server);
        project.action(begun)
    });
    let shown = show(project, project.primary_ips.get(id)?);
    Ok(public_ip::made(Kind::PrimaryIp, shown, action))
}

fn read(body: &mut Body, profile: Profile) -> Wish {
    let assignee = |body: &mut Body, field: &str| body.word(field, &[("server", ())]);
    if profile < Profile::June2026 {
        body.required("assignee_type", assignee);
    } else {
        assignee(body, "assignee_type");
    }
    let wish = Wish {
        name: body.required("name", upkeep::name),
        labels: body.labels().unwrap_or_default(),
        v4: body.required("type", |body, field| body.word(field, &VERSIONS)),
        server: body.id("assignee_id"),
        location: body.id_or_name("location"),
        datacenter: body.id_or_name("datacenter"),
        auto_delete: body.flag("auto_delete").unwrap_or(false),
    };
    if wish.location.is_some() && wish.datacenter.is_some() {
        body.wrong("location", "Must not be given together with datacenter.");
    }
    if wish.location.is_none() && wish.datacenter.is_none() && wish.server.is_none() {
        body.wrong("location", "Missing data for required field.");
    }
    wish
}

/// Where it shall be, which is where its server is if it is to have one.
fn place(project: &Project, wish: &Wish) -> Result<String, Wrong> {
    let named = match (&wish.location, &wish.datacenter) {
        (None, None) => None,
        (location, datacenter) => Some(offer::place(project, location.as_ref(), datacenter.as_ref())?.name),
    };
    let Some(id) = wish.server else { return Ok(named.unwrap_or_default()) };
    assign::takes(project, id, wish.v4)?;
    let location = project.servers.get(id)?.location.clone();
    match named {
        Some(named) if named != location => {
            Err(Wrong::invalid("location", "The server is in another location."))
        }
        _ => Ok(location),
    }
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let kept = known(project, id)?.head.kept;
    let (naming, auto_delete) = call.asked(|body| {
        let auto_delete = body.flag("auto_delete");
        if kept && auto_delete == Some(true) {
            body.wrong("auto_delete", "Must not be set while the primary IP is protected against deletion.");
        }
        (upkeep::naming(body, upkeep::name), auto_delete)
    })?;
    if assign::changing(project, id) {
        return Err(Wrong::new("conflict", "the primary IP is being changed"));
    }
    upkeep::set(project, id, |project| &mut project.primary_ips, naming)?;
    let ip = project.primary_ips.get_mut(id)?;
    ip.auto_delete = auto_delete.unwrap_or(ip.auto_delete);
    one(project, call)
}

fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = known(project, id)?;
    upkeep::deletable(ip)?;
    project.unlocked(Kind::PrimaryIp, id)?;
    match ip.assignee {
        None => {}
        // Until May 2026 it was taken from a server that was off.
        Some(Assignee::Server(server)) if project.profile < Profile::June2026 => {
            project.unlocked(Kind::Server, server)?;
            server::stopped(project.servers.get(server)?)?;
            assign::part(project, id, server);
        }
        Some(_) => return Err(Wrong::new("must_be_unassigned", "primary IP must be unassigned")),
    }
    remove(project, call, id);
    Ok(Answer::nothing())
}

/// What goes with its assignee cannot be protected against that.
fn change_protection(project: &mut Project, call: &Call<'_>) -> Answered {
    let ip = known(project, call.id())?;
    if ip.auto_delete && call.body()?.flag("delete") == Some(true) {
        return Err(Wrong::invalid(
            "delete",
            "Must not be set for a primary IP that is deleted automatically.",
        ));
    }
    upkeep::change_protection(project, call, |project| &mut project.primary_ips)
}
