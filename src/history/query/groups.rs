//! Machine deployments, as far as an autoscaler has to look at them, and the sets under them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Tracks;
use super::machines::DEPLOYMENT_LABEL;
use super::pods::{objects, strings};
use crate::history::{History, ObjectEvent};
use crate::terms::Period;

/// The annotation under which nobody touches an object.
const PAUSED: &str = "cluster.x-k8s.io/paused";
/// What annotations with the bounds of a group begin with.
const BOUND: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-";

/// The annotation with an unneeded time of its own.
const UNNEEDED: &str = "cluster.x-k8s.io/autoscaling-options-scaledownunneededtime";

/// A machine deployment at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many machines it is to have.
    pub replicas: u64,
    /// Nobody is to touch it.
    pub paused: bool,
    /// Not fewer, if it says so.
    pub min: Option<u32>,
    /// Not more, if it says so.
    pub max: Option<u32>,
    /// How long its nodes must be unneeded, if it says so itself.
    pub unneeded_time: Option<Duration>,
}

/// The tracks of all machine deployments, by name: a pool is called as its deployment is.
pub fn groups(history: &History) -> BTreeMap<String, super::Track<Group>> {
    let tracks: Tracks<String, Group> = objects(history, "MachineDeployment", |event| Some(group(event)));
    tracks.into_iter().map(|(key, track)| (unspaced(&key), track)).collect()
}

fn group(event: &ObjectEvent) -> Group {
    let annotations = strings(&event.object["metadata"]["annotations"]);
    let bound = |which: &str| annotations.get(&format!("{BOUND}{which}-size"))?.parse().ok();
    Group {
        replicas: event.object["spec"]["replicas"].as_u64().unwrap_or(0),
        paused: annotations.contains_key(PAUSED),
        min: bound("min"),
        max: bound("max"),
        unneeded_time: annotations.get(UNNEEDED).and_then(|text| Some(text.parse::<Period>().ok()?.0)),
    }
}

/// A machine set at a moment: its deployment, and whether it has or shall have machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Whose it is.
    pub group: String,
    /// Whether there is anything in it.
    pub inhabited: bool,
}

/// The tracks of all machine sets.
pub fn sets(history: &History) -> Tracks<String, Set> {
    objects(history, "MachineSet", |event| {
        let labels = strings(&event.object["metadata"]["labels"]);
        let count = |part: &str| event.object[part]["replicas"].as_u64().unwrap_or(0);
        Some(Set {
            group: labels.get(DEPLOYMENT_LABEL).cloned()?,
            inhabited: count("spec") > 0 || count("status") > 0,
        })
    })
}

fn unspaced(key: &str) -> String {
    key.rsplit('/').next().unwrap_or(key).to_owned()
}
