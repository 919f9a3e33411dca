//! What is done with a load balancer: services, targets, algorithm, type. One change at a time.

use crate::action::Undertaking;
use crate::call::{Answer, Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::load_balancer::create::{algorithm, check_services, orderable_type};
use crate::resource::load_balancer::effect::Change;
use crate::resource::load_balancer::service::Service;
use crate::resource::load_balancer::{Load, reading, target, type_of};

pub(super) fn add_service(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let service = call.asked(reading::new)?;
    unlocked(project, call)?;
    let mut services = balancer.services.clone();
    services.push(service.clone());
    check_services(project, &services)?;
    Load { services: &services, targets: &balancer.targets }.fits(type_of(project, balancer)?)?;
    Ok(begin(project, call, "add_service", Change::Service(service)))
}

pub(super) fn update_service(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let mut body = call.body()?;
    let port = body.required("listen_port", reading::port);
    let Some(before) = balancer.services.iter().find(|it| it.listen_port == port) else {
        // A port that is none is a mistake before it is unknown.
        return Err(body.done().err().filter(|_| port == 0).unwrap_or_else(|| no_service(port)));
    };
    let service = reading::changed(&mut body, before);
    body.done()?;
    unlocked(project, call)?;
    let others = balancer.services.iter().filter(|it| it.listen_port != port).cloned();
    let services: Vec<Service> = others.chain([service.clone()]).collect();
    // A port that is taken has another status here than for new services.
    check_services(project, &services).map_err(|wrong| match wrong.status() {
        412 => wrong.with_status(422),
        _ => wrong,
    })?;
    Load { services: &services, targets: &balancer.targets }.fits(type_of(project, balancer)?)?;
    Ok(begin(project, call, "update_service", Change::Service(service)))
}

pub(super) fn delete_service(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let port = call.asked(|body| body.required("listen_port", reading::port))?;
    unlocked(project, call)?;
    if !balancer.services.iter().any(|it| it.listen_port == port) {
        return Err(no_service(port));
    }
    Ok(begin(project, call, "delete_service", Change::ServiceDeleted(port)))
}

fn no_service(port: u16) -> Wrong {
    Wrong::new("not_found", format!("service with listen port '{port}' not found"))
}

pub(super) fn add_target(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let target = call.asked(target::read)?;
    unlocked(project, call)?;
    target.check(project, balancer.reach(), &balancer.targets)?;
    let mut targets = balancer.targets.clone();
    targets.push(target.clone());
    Load { services: &balancer.services, targets: &targets }.fits(type_of(project, balancer)?)?;
    Ok(begin(project, call, "add_target", Change::Target(target)))
}

pub(super) fn remove_target(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let target = call.asked(target::read)?;
    unlocked(project, call)?;
    if !balancer.targets.iter().any(|it| it.is_same(&target)) {
        // Clients know this by its words.
        return Err(Wrong::new("not_found", "load balancer target not found"));
    }
    Ok(begin(project, call, "remove_target", Change::TargetRemoved(target)))
}

pub(super) fn change_algorithm(project: &mut Project, call: &Call<'_>) -> Answered {
    project.load_balancers.get(call.id())?;
    let algorithm = call.asked(algorithm)?;
    unlocked(project, call)?;
    Ok(begin(project, call, "change_algorithm", Change::Algorithm(algorithm)))
}

pub(super) fn change_type(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let wanted = call.asked(|body| body.required("load_balancer_type", Body::id_or_name))?;
    unlocked(project, call)?;
    let balancer_type = orderable_type(project, call.now, &wanted)?;
    let load = Load { services: &balancer.services, targets: &balancer.targets };
    if let Some((_, message)) = load.excess(balancer_type) {
        return Err(Wrong::new("invalid_load_balancer_type", message));
    }
    let change = Change::Type(balancer_type.name.clone());
    Ok(begin(project, call, "change_load_balancer_type", change))
}

/// Refuses as long as somebody works on the balancer of the path. Clients change several services at once and rely on
/// this code, which their libraries try again after, unlike after `locked`.
pub(super) fn unlocked(project: &Project, call: &Call<'_>) -> Result<(), Wrong> {
    let changed = || Wrong::new("conflict", "load balancer has changed during request");
    project.unlocked(Kind::LoadBalancer, call.id()).map_err(|_| changed())
}

pub(super) fn begin(project: &mut Project, call: &Call<'_>, command: &'static str, change: Change) -> Answer {
    let effect = change.of(call.id());
    let undertaking = Undertaking::on(command, Kind::LoadBalancer, call.id()).effect(effect);
    project.undertake(call.now, undertaking)
}
