//! Which pods go first when there are too many.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use mock_clock::Time;

use super::brief::Brief;

/// Those to delete, the least valuable first. `neighbours` counts the active pods of the same sort on each node.
pub(super) fn expendable<'a>(
    mut pods: Vec<&'a Brief>,
    neighbours: &BTreeMap<&str, usize>,
    now: Time,
    count: usize,
) -> Vec<&'a Brief> {
    if count < pods.len() {
        pods.sort_by_cached_key(|pod| value(pod, neighbours, now));
        pods.truncate(count);
    }
    pods
}

type Value<'a> = (bool, super::brief::Phase, bool, i32, Reverse<usize>, u32, Reverse<i32>, u32, &'a str);

/// As upstream: unassigned pods before assigned ones, pending before unknown before running, those not ready before
/// ready ones, cheap ones first, then crowded nodes, then the young. Ages count by their order of magnitude, so that
/// those of about the same age are chosen as by chance: by uid.
fn value<'a>(pod: &'a Brief, neighbours: &BTreeMap<&str, usize>, now: Time) -> Value<'a> {
    let crowd = neighbours.get(&*pod.node).copied().unwrap_or_default();
    (
        !pod.node.is_empty(),
        pod.phase,
        pod.is_ready(),
        pod.deletion_cost,
        Reverse(crowd),
        pod.ready.map_or(0, |since| magnitude(since, now)),
        Reverse(pod.restarts),
        magnitude(pod.born, now),
        pod.uid(),
    )
}

/// The logarithm of an age.
fn magnitude(since: Time, now: Time) -> u32 {
    let nanos = now.unix_nanos().saturating_sub(since.unix_nanos());
    nanos.checked_ilog2().map_or(0, |magnitude| magnitude + 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::control::family::Child as _;
    use crate::store::Draft;

    const READY: &str = "2030-01-01T00:00:00Z";

    fn pod(name: &str, change: impl Fn(&mut Value)) -> Brief {
        let mut pod = json!({
            "metadata": {"name": name, "uid": name, "creationTimestamp": READY, "annotations": {}},
            "spec": {"nodeName": "n"},
            "status": {"phase": "Running", "containerStatuses": [{"restartCount": 0}],
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": READY}]},
        });
        change(&mut pod);
        Brief::of(&Arc::new(Draft::new(&pod, Box::default(), None).at(1))).unwrap()
    }

    /// Each of these goes before an ordinary pod, whatever their names.
    type Edit = fn(&mut Value);

    #[test]
    fn the_lesser_goes_first() {
        let lesser: [(&str, Edit); 7] = [
            ("unassigned", |pod| pod["spec"]["nodeName"] = json!("")),
            ("pending", |pod| pod["status"]["phase"] = json!("Pending")),
            ("not ready", |pod| pod["status"]["conditions"][0]["status"] = json!("False")),
            ("cheap", |pod| {
                pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"] = json!("-1");
            }),
            ("crowded", |pod| pod["spec"]["nodeName"] = json!("crowded")),
            ("young", |pod| {
                pod["status"]["conditions"][0]["lastTransitionTime"] = json!("2030-01-01T00:50:00Z");
            }),
            ("restarted", |pod| pod["status"]["containerStatuses"][0]["restartCount"] = json!(3)),
        ];
        let now = "2030-01-01T01:00:00Z".parse().unwrap();
        let neighbours = BTreeMap::from([("n", 1), ("crowded", 2)]);
        for (what, change) in lesser {
            for (lesser, ordinary) in [("a", "b"), ("b", "a")] {
                let (lesser, ordinary) = (pod(lesser, change), pod(ordinary, |_| {}));
                let gone = expendable(vec![&ordinary, &lesser], &neighbours, now, 1);
                assert_eq!(gone[0].name(), lesser.name(), "{what}");
            }
        }
    }

    #[test]
    fn those_of_about_the_same_age_go_by_chance() {
        let now = "2030-01-01T01:00:00Z".parse().unwrap();
        let (older, younger) = (
            pod("a", |_| {}),
            pod("b", |pod| {
                pod["status"]["conditions"][0]["lastTransitionTime"] = json!("2030-01-01T00:01:00Z");
            }),
        );
        let gone = expendable(vec![&younger, &older], &BTreeMap::new(), now, 1);
        assert_eq!(gone[0].name(), "a", "the uid decides");
    }
}
