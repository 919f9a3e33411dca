//! Who leads.

use super::Tracks;
use super::pods::objects;
use crate::history::History;

/// The lease of the subject at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The host name of who holds it, up to the first underscore; empty if nobody does.
    pub holder: String,
}

/// The tracks of leases of this name, by namespace and name. cluster-autoscaler's is `cluster-autoscaler`.
pub fn leader_lease(history: &History, name: &str) -> Tracks<String, Lease> {
    objects(history, "Lease", |event| {
        let holder = event.object["spec"]["holderIdentity"].as_str().unwrap_or_default();
        let host = holder.split('_').next().unwrap_or_default();
        (event.name == name).then(|| Lease { holder: host.to_owned() })
    })
    .into_iter()
    .filter(|(_, track)| track.last().is_some())
    .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use mock_clock::Time;
    use serde_json::{Value, json};

    use super::*;
    use crate::history::{
        Change, ClusterFacts, Event, Header, MachineFacts, ObjectEvent, ScenarioFacts, SubjectFacts, What,
    };
    use crate::terms::{Provider, Timers};

    /// A history of these events, each so many seconds after the beginning.
    pub(in crate::history::query) fn history(events: Vec<(u64, What)>) -> History {
        let began: Time = "2026-01-01T00:00:00Z".parse().unwrap();
        let header = Header {
            format: 1,
            scaleproof: "0.1.0".into(),
            scenario: ScenarioFacts {
                path: String::new(),
                title: String::new(),
                digest: String::new(),
                expect: vec![],
                convicts: vec![],
            },
            seed: 1,
            plan: Value::Null,
            subject: SubjectFacts {
                profile: String::new(),
                profile_path: None,
                profile_digest: None,
                provider: Provider::Hetzner,
                version: None,
                digest: None,
                command: vec![],
                environment: BTreeMap::new(),
                replicas: 1,
                timers: Timers::new(),
                options: BTreeMap::new(),
                deviations: vec![],
            },
            pools: vec![],
            cluster: ClusterFacts { kind: "embedded".into(), version: String::new() },
            time: "idle-skip".into(),
            began,
            machine: MachineFacts { system: String::new(), processors: 1 },
        };
        let event = |(s, what)| Event { at: began + Duration::from_secs(s), real_us: 0, what };
        History { header, events: events.into_iter().map(event).collect(), cut_short: None }
    }

    /// An object as it was first seen.
    pub(in crate::history::query) fn object(kind: &str, namespace: &str, name: &str, object: Value) -> What {
        let (kind, namespace, name) = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        What::Object(ObjectEvent { change: Change::Added, kind, namespace, name, object })
    }

    #[test]
    fn the_lease_tells_who_leads_and_others_do_not() {
        let history = history(vec![
            (
                0,
                object(
                    "Lease",
                    "kube-system",
                    "cluster-autoscaler",
                    json!({"spec": {"holderIdentity": "ca-0_x"}}),
                ),
            ),
            (1, object("Lease", "kube-node-lease", "n", json!({"spec": {"holderIdentity": "n"}}))),
        ]);
        let leases = leader_lease(&history, "cluster-autoscaler");
        assert_eq!(leases.len(), 1);
        assert_eq!(leases["kube-system/cluster-autoscaler"].last().map(|lease| &*lease.holder), Some("ca-0"));
    }
}
