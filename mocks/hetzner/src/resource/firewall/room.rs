//! The routes of firewalls. Applying them is next door.

use mock_clock::Time;
use serde_json::{Value, json};

use crate::action::{Undertaking, action_routes};
use crate::call::{Answer, Answered, Body, Call, Route, Wrong, change, list, look};
use crate::project::Project;
use crate::resource::firewall::rule::{self, Rule};
use crate::resource::firewall::show::show;
use crate::resource::firewall::target::{self, Target};
use crate::resource::firewall::{Firewall, apply};
use crate::resource::shelf::Labels;
use crate::resource::{Kind, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/firewalls", all),
    look("/firewalls/{id}", one),
    change("POST", "/firewalls", create),
    change("PUT", "/firewalls/{id}", update),
    change("DELETE", "/firewalls/{id}", delete),
    change("POST", "/firewalls/{id}/actions/set_rules", set_rules),
    change("POST", "/firewalls/{id}/actions/apply_to_resources", apply::to_resources),
    change("POST", "/firewalls/{id}/actions/remove_from_resources", apply::off_resources),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/firewalls", Firewall);

/// Names beyond this are refused.
const LONGEST_NAME: usize = 128;

fn all(project: &Project, call: &Call<'_>) -> Answered {
    list(call, "firewalls", &project.firewalls, |_| true, |firewall| show(project, firewall))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"firewall": show(project, project.firewalls.get(call.id())?)})))
}

/// What a body asks for.
struct Wish {
    name: String,
    labels: Labels,
    rules: Vec<Rule>,
    targets: Vec<Target>,
}

fn read(body: &mut Body) -> Wish {
    Wish {
        name: body.required("name", name),
        labels: body.labels().unwrap_or_default(),
        rules: rule::list(body, "rules").unwrap_or_default(),
        targets: target::list(body, "apply_to").unwrap_or_default(),
    }
}

fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let Wish { name, labels, rules, targets } = call.asked(read)?;
    project.firewalls.free_name(&name, None)?;
    check(project, &targets)?;
    let has_rules = !rules.is_empty();
    let head = project.firewalls.head(call.now, name, labels);
    let firewall = Firewall { head, rules, servers: Vec::new(), selectors: Vec::new(), pending: Vec::new() };
    let id = project.firewalls.put(firewall);
    project.opened(call, Kind::Firewall, id);
    let mut actions = Vec::new();
    if has_rules {
        actions.push(begin_rules(project, call.now, id));
    }
    actions.extend(targets.into_iter().map(|target| apply::begin(project, call.now, id, target)));
    let firewall = show(project, project.firewalls.get(id)?);
    Ok(Answer::created(json!({"firewall": firewall, "actions": actions})))
}

/// Refuses what a new firewall cannot be applied to. What is not found is no matter of the path here, so its status
/// is another than for a firewall that is there.
fn check(project: &Project, targets: &[Target]) -> Result<(), Wrong> {
    for (index, target) in targets.iter().enumerate() {
        if targets.iter().take(index).any(|other| other == target) {
            return Err(Wrong::new("server_already_added", "the same resource is given more than once"));
        }
        apply::applicable(project, 0, target).map_err(|wrong| match wrong.status() {
            404 => wrong.with_status(422),
            _ => wrong,
        })?;
    }
    Ok(())
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::rename(project, call, |project| &mut project.firewalls, name)?;
    one(project, call)
}

fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let firewall = project.firewalls.get(call.id())?;
    if !firewall.servers.is_empty() || !firewall.selectors.is_empty() {
        return Err(Wrong::new("resource_in_use", format!("firewall with ID {} is still in use", call.id())));
    }
    project.closed(call, Kind::Firewall, call.id());
    project.firewalls.take(call.id());
    Ok(Answer::nothing())
}

/// The rules hold at once; what takes time is to bring them to each server.
fn set_rules(project: &mut Project, call: &Call<'_>) -> Answered {
    let firewall = project.firewalls.get_mut(call.id())?;
    firewall.rules = call.asked(|body| body.required("rules", rule::list))?;
    let mut actions = vec![begin_rules(project, call.now, call.id())];
    let firewall = project.firewalls.get(call.id())?;
    let guarded = project.servers.all().filter(|server| firewall.guards(server));
    let guarded: Vec<u64> = guarded.map(|server| server.head.id).collect();
    for server in guarded {
        let undertaking = Undertaking::on("apply_firewall", Kind::Firewall, call.id()).shared();
        let begun = project.begin(call.now, undertaking.with(Kind::Server, server));
        actions.push(project.action(begun));
    }
    Ok(Answer::created(json!({"actions": actions})))
}

fn begin_rules(project: &mut Project, now: Time, firewall: u64) -> Value {
    let undertaking = Undertaking::on("set_firewall_rules", Kind::Firewall, firewall).shared();
    let begun = project.begin(now, undertaking);
    project.action(begun)
}

fn name(body: &mut Body, field: &str) -> Option<String> {
    let name = upkeep::name(body, field)?;
    if name.chars().count() > LONGEST_NAME {
        body.wrong(field, format!("Longer than maximum length {LONGEST_NAME}."));
    }
    Some(name)
}
