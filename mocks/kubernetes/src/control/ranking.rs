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
