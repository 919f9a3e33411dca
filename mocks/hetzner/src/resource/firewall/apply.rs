//! Applying firewalls to servers and label selectors, and taking them off again.
//!
//! What is being applied is listed from the request on and shown as pending, so that it cannot be asked for twice.

use mock_clock::Time;
use serde_json::{Value, json};

use crate::action::Undertaking;
use crate::call::{Answer, Answered, Call, Wrong};
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::firewall::target::{self, Target};
use crate::resource::firewall::{Effect, Firewall, finds, is_public};
use crate::resource::shelf::Labels;

/// How many firewalls a server can have.
const MOST_OF_A_SERVER: usize = 5;

pub(super) fn to_resources(project: &mut Project, call: &Call<'_>) -> Answered {
    let firewall = project.firewalls.get(call.id())?;
    let targets = call.asked(|body| body.required("apply_to", target::list))?;
    for (index, target) in targets.iter().enumerate() {
        if firewall.is_applied_to(target) || targets.iter().take(index).any(|other| other == target) {
            return Err(Wrong::new(
                "firewall_already_applied",
                "firewall is already applied to the resource",
            ));
        }
        applicable(project, call.id(), target)?;
    }
    let actions = targets.into_iter().map(|target| begin(project, call.now, call.id(), target));
    let actions: Vec<Value> = actions.collect();
    Ok(Answer::created(json!({"actions": actions})))
}

pub(super) fn off_resources(project: &mut Project, call: &Call<'_>) -> Answered {
    let firewall = project.firewalls.get(call.id())?;
    let targets = call.asked(|body| body.required("remove_from", target::list))?;
    let mut going = Vec::with_capacity(targets.len());
    for target in targets {
        if removable(project, firewall, &target)? {
            going.push(target);
        }
    }
    let mut actions: Vec<Value> = Vec::with_capacity(going.len());
    for target in going {
        let undertaking = concerning("remove_firewall", project, call.id(), &target);
        let effect = Effect::Removed { firewall: call.id(), target };
        let begun = project.begin(call.now, undertaking.effect(effect));
        actions.push(project.action(begun));
    }
    Ok(Answer::created(json!({"actions": actions})))
}

/// Refuses a server that is not there, that has nothing to guard, or that is guarded by enough others.
pub(super) fn applicable(project: &Project, firewall: u64, target: &Target) -> Result<(), Wrong> {
    let Target::Server(id) = target else { return Ok(()) };
    let server = project.servers.find(*id).ok_or_else(|| no_such_resource(*id))?;
    if !is_public(server) {
        return Err(private_only(&format!("server with ID {id}")));
    }
    let others = project.firewalls.all().filter(|other| other.head.id != firewall && other.guards(server));
    if others.count() >= MOST_OF_A_SERVER {
        return Err(too_many());
    }
    Ok(())
}

/// Refuses firewalls for a new server, unless all are there, it has something to guard, and they are not too many
/// together with those that its labels bring. One may be named twice.
pub(crate) fn all_applicable(
    project: &Project,
    firewalls: &[u64],
    labels: &Labels,
    is_public: bool,
) -> Result<(), Wrong> {
    for id in firewalls {
        project.firewalls.get(*id)?;
    }
    if firewalls.is_empty() {
        return Ok(());
    }
    if !is_public {
        return Err(private_only("the server"));
    }
    let selected = |firewall: &Firewall| firewall.selectors.iter().any(|selector| finds(selector, labels));
    let guarding = |it: &&Firewall| firewalls.contains(&it.head.id) || selected(it);
    if project.firewalls.all().filter(guarding).count() > MOST_OF_A_SERVER {
        return Err(too_many());
    }
    Ok(())
}

fn private_only(server: &str) -> Wrong {
    Wrong::new("private_net_only_server", format!("{server} has no public interface"))
}

fn too_many() -> Wrong {
    Wrong::limit_exceeded("server_firewall_limit", "firewall limit of the server exceeded")
}

/// Whether there is anything to take off. Until August 2025 it was refused if there was not.
fn removable(project: &Project, firewall: &Firewall, target: &Target) -> Result<bool, Wrong> {
    if let Target::Server(id) = target {
        let server = project.servers.find(*id).ok_or_else(|| no_such_resource(*id))?;
        if !firewall.is_applied_to(target) && firewall.guards(server) {
            return Err(Wrong::new(
                "firewall_managed_by_label_selector",
                "firewall is applied via a label selector and cannot be removed manually",
            ));
        }
    }
    if !firewall.is_applied_to(target) {
        if project.profile >= Profile::June2026 {
            return Ok(false);
        }
        return Err(Wrong::new("firewall_already_removed", "firewall is not applied to the resource"));
    }
    if firewall.pending.contains(target) {
        return Err(Wrong::new("conflict", "firewall is just being applied to the resource"));
    }
    Ok(true)
}

/// Begins to apply a firewall, and shows the action.
pub(super) fn begin(project: &mut Project, now: Time, firewall: u64, target: Target) -> Value {
    if let Some(firewall) = project.firewalls.find_mut(firewall) {
        firewall.add(target.clone());
    }
    let undertaking = concerning("apply_firewall", project, firewall, &target);
    let begun = project.begin(now, undertaking.effect(Effect::Applied { firewall, target }));
    project.action(begun)
}

/// Work on a firewall and on all servers that a target comes to. It holds none of them.
fn concerning(command: &'static str, project: &Project, firewall: u64, target: &Target) -> Undertaking {
    let undertaking = Undertaking::on(command, Kind::Firewall, firewall).shared();
    target.servers(project).into_iter().fold(undertaking, |all, server| all.with(Kind::Server, server))
}

fn no_such_resource(server: u64) -> Wrong {
    Wrong::new("firewall_resource_not_found", format!("server with ID {server} not found"))
}
