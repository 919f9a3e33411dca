//! The routes of what can be ordered.

use serde_json::{Value, json};

use crate::call::{Answer, Answered, Call, Route, Wrong, look, paged};
use crate::catalogue::{Iso, LoadBalancerType, Location, ServerType};
use crate::project::Project;
use crate::resource::offer::{pricing::pricing, show, sold};

pub(crate) const ROUTES: &[Route] = &[
    look("/server_types", server_types),
    look("/server_types/{id}", server_type),
    look("/locations", locations),
    look("/locations/{id}", location),
    look("/datacenters", datacenters),
    look("/datacenters/{id}", datacenter),
    look("/load_balancer_types", load_balancer_types),
    look("/load_balancer_types/{id}", load_balancer_type),
    look("/isos", isos),
    look("/isos/{id}", iso),
    look("/pricing", pricing),
];

/// What every offer has.
trait Named {
    fn id(&self) -> u64;
    fn name(&self) -> &str;
}

macro_rules! named {
    ($($type:ty),*) => {
        $(impl Named for $type {
            fn id(&self) -> u64 {
                self.id
            }
            fn name(&self) -> &str {
                &self.name
            }
        })*
    };
}
named!(ServerType, Location, LoadBalancerType, Iso);

/// Those of the name asked for, in pages, by ascending id unless asked otherwise.
fn list<'a, T: Named + 'a>(
    call: &Call<'_>,
    key: &str,
    all: impl Iterator<Item = &'a T>,
    show: impl Fn(&T) -> Value,
) -> Answered {
    let mut all: Vec<&T> = all.filter(|it| call.query.wants("name", it.name())).collect();
    all.sort_by_key(|it| it.id());
    let compare = |a: &T, b: &T, field: &str| match field {
        "name" => a.name().cmp(b.name()),
        _ => a.id().cmp(&b.id()),
    };
    paged(call, key, all, &["id", "name"], compare, show)
}

fn server_types(project: &Project, call: &Call<'_>) -> Answered {
    let all = project.catalogue.server_types.iter().filter(|it| sold(project, call.now, it));
    list(call, "server_types", all, |it| show::server_type(project, it))
}

/// One that has left the list can still be asked for: there may be servers of it.
fn server_type(project: &Project, call: &Call<'_>) -> Answered {
    let found = project.catalogue.server_type_by_id(call.id());
    let found = found.ok_or_else(|| Wrong::not_found("server_type", call.id()))?;
    Ok(Answer::ok(json!({"server_type": show::server_type(project, found)})))
}

fn locations(project: &Project, call: &Call<'_>) -> Answered {
    list(call, "locations", project.catalogue.locations.iter(), show::location)
}

fn location(project: &Project, call: &Call<'_>) -> Answered {
    let found = project.catalogue.location_by_id(call.id());
    let found = found.ok_or_else(|| Wrong::not_found("location", call.id()))?;
    Ok(Answer::ok(json!({"location": show::location(found)})))
}

/// Gone, in the profiles that have none.
fn datacenters_are_there(project: &Project) -> Result<(), Wrong> {
    if project.profile.has_datacenters() {
        return Ok(());
    }
    Err(Wrong::deprecated_endpoint(
        "Datacenters were removed from the API; use locations",
        "https://docs.hetzner.cloud/changelog#2026-06-02-datacenters-deprecated",
    ))
}

fn datacenters(project: &Project, call: &Call<'_>) -> Answered {
    datacenters_are_there(project)?;
    let places: Vec<&Location> =
        project.catalogue.locations.iter().filter(|it| it.datacenter.is_some()).collect();
    let named = |it: &&Location| it.datacenter.as_ref().is_some_and(|dc| call.query.wants("name", &dc.name));
    let recommendation = places.first().and_then(|it| it.datacenter.as_ref()).map(|it| it.id);
    let id = |it: &Location| it.datacenter.as_ref().map(|it| it.id);
    let name = |it: &Location| it.datacenter.as_ref().map(|it| it.name.clone());
    let compare = |a: &Location, b: &Location, field: &str| match field {
        "name" => name(a).cmp(&name(b)),
        _ => id(a).cmp(&id(b)),
    };
    let mut shown: Vec<&Location> = places.iter().copied().filter(named).collect();
    shown.sort_by_key(|it| id(it));
    let show =
        |it: &Location| it.datacenter.as_ref().map_or(Value::Null, |dc| show::datacenter(project, it, dc));
    let mut answer = paged(call, "datacenters", shown, &["id", "name"], compare, show)?;
    if let Some(fields) = answer.body.as_mut().and_then(Value::as_object_mut) {
        fields.insert("recommendation".to_owned(), json!(recommendation));
    }
    Ok(answer)
}

fn datacenter(project: &Project, call: &Call<'_>) -> Answered {
    datacenters_are_there(project)?;
    let id = call.id();
    let mut all = project.catalogue.locations.iter().filter_map(|it| Some((it, it.datacenter.as_ref()?)));
    let (place, found) = all.find(|(_, it)| it.id == id).ok_or_else(|| Wrong::not_found("datacenter", id))?;
    Ok(Answer::ok(json!({"datacenter": show::datacenter(project, place, found)})))
}

fn load_balancer_types(project: &Project, call: &Call<'_>) -> Answered {
    let all = project.catalogue.load_balancer_types.iter();
    list(call, "load_balancer_types", all, |it| show::load_balancer_type(project, it))
}

fn load_balancer_type(project: &Project, call: &Call<'_>) -> Answered {
    let found = project.catalogue.load_balancer_type_by_id(call.id());
    let found = found.ok_or_else(|| Wrong::not_found("load_balancer_type", call.id()))?;
    Ok(Answer::ok(json!({"load_balancer_type": show::load_balancer_type(project, found)})))
}

fn isos(project: &Project, call: &Call<'_>) -> Answered {
    let any = call.query.first("include_architecture_wildcard") == Some("true");
    let runs = |it: &&Iso| match it.architecture {
        Some(architecture) => call.query.wants("architecture", architecture.as_str()),
        None => any || call.query.first("architecture").is_none(),
    };
    list(call, "isos", project.catalogue.isos.iter().filter(runs), show::iso)
}

fn iso(project: &Project, call: &Call<'_>) -> Answered {
    let found = project.catalogue.iso_by_id(call.id());
    let found = found.ok_or_else(|| Wrong::not_found("iso", call.id()))?;
    Ok(Answer::ok(json!({"iso": show::iso(found)})))
}
