//! Machines of Cluster API, told as servers are: who exists, since when, and for which pool.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;
use serde_json::Value;

use super::Tracks;
use super::servers::Server;
use super::track::{Seen, Spell};
use crate::history::{Change, History, ObjectEvent, What};

/// The label by which a machine, or a set of them, says to which deployment it belongs.
pub const DEPLOYMENT_LABEL: &str = "cluster.x-k8s.io/deployment-name";
/// The annotation of machines that are to go before others.
const MARK: &str = "cluster.x-k8s.io/delete-machine";
/// Who is marked is given back within this time.
const JUST: Duration = Duration::from_secs(5);
/// Machines that were never given an id by the infrastructure are counted from here on.
const NAMELESS: u64 = 1 << 40;

/// What became of a machine.
pub(super) struct Life {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) pool: String,
    /// When it was first seen.
    pub(super) from: Time,
    /// When it was first seen marked.
    pub(super) marked: Option<Time>,
    /// When it was first seen told to go.
    pub(super) told: Option<Time>,
}

impl Life {
    /// Whether it was marked shortly before a moment.
    pub(super) fn marked_at(&self, at: Time) -> bool {
        self.marked.is_some_and(|marked| marked <= at + super::TIE && marked + JUST >= at)
    }
}

/// The machines of a history in the order of their coming.
pub(super) fn lives(history: &History) -> Vec<Life> {
    let ids = ids(history);
    let mut lives: Vec<Life> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, at, machine) in machines(history) {
        let meta = &machine.object["metadata"];
        let Some(uid) = meta["uid"].as_str() else { continue };
        let place = *places.entry(uid).or_insert_with(|| {
            lives.push(Life {
                id: ids[uid],
                name: machine.name.clone(),
                pool: pool(machine).unwrap_or_default(),
                from: at,
                marked: None,
                told: None,
            });
            lives.len() - 1
        });
        let life = &mut lives[place];
        let first = |so: bool, known: Option<Time>| known.or_else(|| so.then_some(at));
        life.marked = first(!meta["annotations"][MARK].is_null(), life.marked);
        let gone = !meta["deletionTimestamp"].is_null() || machine.change == Change::Deleted;
        life.told = first(gone, life.told);
    }
    lives
}

/// When machines were marked to go before others, by their ids.
pub fn marks(history: &History) -> BTreeMap<u64, Vec<Spell>> {
    let ids = ids(history);
    let mut tracks: Tracks<u64, bool> = Tracks::new();
    for (event, at, machine) in machines(history) {
        let meta = &machine.object["metadata"];
        let Some(id) = meta["uid"].as_str().and_then(|uid| ids.get(uid)) else { continue };
        let state = (machine.change != Change::Deleted).then(|| !meta["annotations"][MARK].is_null());
        tracks.entry(*id).or_default().seen.push(Seen { event, at, state });
    }
    tracks.into_iter().map(|(id, track)| (id, track.spells(|marked| *marked))).collect()
}

/// The tracks of all machines as if they were servers.
pub(super) fn servers(history: &History) -> Tracks<u64, Server> {
    let ids = ids(history);
    let mut tracks: Tracks<u64, Server> = Tracks::new();
    for (event, at, machine) in machines(history) {
        let Some(id) = machine.object["metadata"]["uid"].as_str().and_then(|uid| ids.get(uid)) else {
            continue;
        };
        let state = (machine.change != Change::Deleted).then(|| Server {
            name: machine.name.clone(),
            status: status(&machine.object).to_owned(),
            pool: pool(machine),
            claim: None,
        });
        tracks.entry(*id).or_default().seen.push(Seen { event, at, state });
    }
    tracks
}

fn machines(history: &History) -> impl Iterator<Item = (usize, Time, &ObjectEvent)> {
    history.events.iter().enumerate().filter_map(|(event, happened)| match &happened.what {
        What::Object(object) if object.kind == "Machine" => Some((event, happened.at, object)),
        _ => None,
    })
}

/// By uid: the number that the infrastructure gave it, or one that nobody else has.
fn ids(history: &History) -> BTreeMap<String, u64> {
    let mut ids: BTreeMap<String, u64> = BTreeMap::new();
    let mut nameless = NAMELESS;
    for (_, _, machine) in machines(history) {
        let Some(uid) = machine.object["metadata"]["uid"].as_str() else { continue };
        let said = machine.object["spec"]["providerID"].as_str();
        match said.and_then(|id| id.rsplit('/').next()?.parse().ok()) {
            Some(id) => drop(ids.insert(uid.to_owned(), id)),
            None => drop(ids.entry(uid.to_owned()).or_insert_with(|| {
                nameless += 1;
                nameless
            })),
        }
    }
    ids
}

fn pool(machine: &ObjectEvent) -> Option<String> {
    machine.object["metadata"]["labels"][DEPLOYMENT_LABEL].as_str().map(str::to_owned)
}

/// How a server in its place would be.
fn status(machine: &Value) -> &'static str {
    if !machine["metadata"]["deletionTimestamp"].is_null() {
        return "deleting";
    }
    match machine["status"]["phase"].as_str() {
        Some("Running" | "Provisioned" | "Updating") => "running",
        Some("Failed") => "failed",
        _ => "initializing",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::query::leases::tests::history;

    #[test]
    fn a_machine_is_a_server_from_its_first_sight_and_by_the_number_it_gets_later() {
        let event = |change, spec: Value, phase: &str| {
            let meta = json!({"uid": "u", "labels": {DEPLOYMENT_LABEL: "small"}});
            What::Object(ObjectEvent {
                change,
                kind: "Machine".into(),
                namespace: "default".into(),
                name: "small-1".into(),
                object: json!({"metadata": meta, "spec": spec, "status": {"phase": phase}}),
            })
        };
        let history = history(vec![
            (0, event(Change::Added, json!({}), "Pending")),
            (9, event(Change::Modified, json!({"providerID": "hcloud://7"}), "Provisioned")),
            (20, event(Change::Deleted, json!({"providerID": "hcloud://7"}), "Deleting")),
        ]);
        let track = &servers(&history)[&7];
        let told: Vec<_> =
            track.seen.iter().map(|seen| seen.state.as_ref().map(|it| it.status.as_str())).collect();
        assert_eq!(told, [Some("initializing"), Some("running"), None]);
        assert_eq!(track.last().and_then(|server| server.pool.as_deref()), Some("small"));
    }
}
