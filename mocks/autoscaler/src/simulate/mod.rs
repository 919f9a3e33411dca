//! The cluster in thought: which pod would fit on which node, and how many machines a pool would need.
//!
//! It knows resources, selectors, required affinity to nodes, taints, ports of the host, required anti-affinity and
//! required spread. It does not know volumes, policies of a spread, required affinity to pods, or preferences.

use std::collections::BTreeMap;

use crate::view::{Pod, Resources, Spread, Taint};

/// The label by which each node is a domain of its own.
pub(crate) const HOSTNAME: &str = "kubernetes.io/hostname";

/// A node in thought, with the pods it has in thought.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) taints: Vec<Taint>,
    /// Nothing can be put here, though pods may be here.
    pub(crate) closed: bool,
    /// It does not exist yet.
    pub(crate) upcoming: bool,
    pub(crate) free: Resources,
    pub(crate) pods: Vec<Pod>,
    /// Whether a pod that waits has been put here.
    pub(crate) wanted: bool,
}

impl Place {
    /// The same under a name of its own.
    pub(crate) fn called(mut self, name: String) -> Self {
        self.labels.insert(HOSTNAME.to_owned(), name.clone());
        self.name = name;
        self
    }

    pub(crate) fn put(&mut self, pod: &Pod) {
        self.free.take(&pod.requests);
        self.pods.push(pod.clone());
    }

    /// Whether the place alone would take it: all but what other places have to say.
    fn takes(&self, pod: &Pod) -> bool {
        let taken = |other: &Pod| !other.host_ports.is_disjoint(&pod.host_ports);
        !self.closed
            && self.free.hold(&pod.requests)
            && pod.chooses(&self.labels)
            && pod.tolerates(&self.taints)
            && !self.pods.iter().any(taken)
    }
}

/// All places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    pub(crate) places: Vec<Place>,
}

impl Room {
    /// Whether the pod fits there.
    pub(crate) fn fits(&self, pod: &Pod, index: usize) -> bool {
        let place = &self.places[index];
        if !place.takes(pod) {
            return false;
        }
        let shares = |other: &Place, key: &str| {
            let domain = place.labels.get(key);
            domain.is_some() && domain == other.labels.get(key)
        };
        let quarrels = |other: &Place| {
            other.pods.iter().any(|there| {
                pod.apart.iter().any(|apart| shares(other, &apart.topology_key) && apart.means(there))
                    || there.apart.iter().any(|apart| shares(other, &apart.topology_key) && apart.means(pod))
            })
        };
        !self.places.iter().any(quarrels) && pod.spread.iter().all(|spread| self.is_even(pod, index, spread))
    }

    /// Whether its like would be spread evenly enough, were the pod there. What is closed still counts.
    fn is_even(&self, pod: &Pod, index: usize, spread: &Spread) -> bool {
        let like = |other: &&Pod| {
            other.namespace == pod.namespace && !other.ending && spread.selector.matches(&other.labels)
        };
        let mut domains: BTreeMap<&str, usize> = BTreeMap::new();
        for place in self.places.iter().filter(|place| pod.chooses(&place.labels)) {
            if let Some(domain) = place.labels.get(&spread.topology_key) {
                *domains.entry(domain).or_default() += place.pods.iter().filter(like).count();
            }
        }
        let few = domains.len() < spread.min_domains;
        let least = if few { 0 } else { domains.values().copied().min().unwrap_or_default() };
        let here =
            self.places[index].labels.get(&spread.topology_key).and_then(|it| domains.get(it.as_str()));
        here.is_some_and(|there| {
            there + usize::from(spread.selector.matches(&pod.labels)) <= least + spread.max_skew
        })
    }

    /// Puts the pod on the first place where it fits and that is `allowed`.
    pub(crate) fn put(&mut self, pod: &Pod, allowed: impl Fn(&Place) -> bool) -> Option<usize> {
        let found = (0..self.places.len()).find(|i| allowed(&self.places[*i]) && self.fits(pod, *i))?;
        self.places[found].put(pod);
        Some(found)
    }

    /// Moves everything off a place and closes it; gives the room as it would be, if all of it fits elsewhere.
    pub(crate) fn without(&self, index: usize, moving: &[Pod]) -> Option<Room> {
        let mut room = self.clone();
        room.places[index].closed = true;
        room.places[index].pods.clear();
        for pod in moving {
            room.put(pod, |place| !place.upcoming)?;
        }
        Some(room)
    }

    /// How many machines like `template` these pods need, at most `limit`, and which of the pods they would take.
    pub(crate) fn pack(&self, template: &Place, pods: &[Pod], limit: usize) -> (usize, Vec<Pod>) {
        let mut room = self.clone();
        let first = room.places.len();
        let mut biggest_first: Vec<&Pod> = pods.iter().collect();
        biggest_first.sort_by_key(|pod| std::cmp::Reverse((pod.requests.cpu, pod.requests.memory)));
        let mut taken = Vec::new();
        for pod in biggest_first {
            let here = (first..room.places.len()).find(|i| room.fits(pod, *i));
            let here = here.or_else(|| {
                if room.places.len() - first >= limit {
                    return None;
                }
                let name = format!("{}-{}", template.name, room.places.len() - first);
                room.places.push(template.clone().called(name));
                let last = room.places.len() - 1;
                if room.fits(pod, last) {
                    return Some(last);
                }
                room.places.pop();
                None
            });
            if let Some(here) = here {
                room.places[here].put(pod);
                taken.push(pod.clone());
            }
        }
        (room.places.len() - first, taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::tests::{pod, resources};
    use crate::view::{Apart, Requirement, Selector, Spread};

    fn place(cores: u64) -> Place {
        Place {
            name: "new".to_owned(),
            labels: BTreeMap::new(),
            taints: Vec::new(),
            closed: false,
            upcoming: false,
            free: Resources { pods: 110, ..resources(cores * 1000, 8) },
            pods: Vec::new(),
            wanted: false,
        }
    }

    #[test]
    fn pods_that_quarrel_need_a_machine_each() {
        let mut quarrelsome = pod("a", 100);
        quarrelsome.apart.push(Apart {
            namespaces: ["default".to_owned()].into(),
            selector: Selector(vec![Requirement::is("app", "web")]),
            topology_key: "kubernetes.io/hostname".to_owned(),
        });
        let pods = vec![quarrelsome; 3];
        let (count, taken) = Room::default().pack(&place(4), &pods, 10);
        assert_eq!((count, taken.len()), (3, 3));
    }

    fn spread_over_hosts(min_domains: usize) -> Pod {
        let mut even = pod("a", 100);
        even.spread.push(Spread {
            selector: Selector(vec![Requirement::is("app", "web")]),
            topology_key: "kubernetes.io/hostname".to_owned(),
            max_skew: 1,
            min_domains,
        });
        even
    }

    #[test]
    fn pods_that_are_spread_need_as_many_machines_as_domains() {
        let pods = vec![spread_over_hosts(3); 6];
        let (count, taken) = Room::default().pack(&place(4), &pods, 10);
        assert_eq!((count, taken.len()), (3, 6));
        assert_eq!(Room::default().pack(&place(4), &vec![spread_over_hosts(1); 6], 10).0, 1);
    }

    #[test]
    fn a_place_that_is_closed_counts_for_the_spread() {
        let even = spread_over_hosts(1);
        let named = |name: &str| {
            let mut place = place(4).called(name.to_owned());
            place.put(&even);
            place
        };
        let room = Room { places: vec![named("a"), named("b")] };
        assert!(room.without(0, std::slice::from_ref(&even)).is_none());
        assert!(room.without(0, &[pod("other", 100)]).is_some());
    }

    #[test]
    fn ports_of_the_host_are_taken_once() {
        let mut host = pod("a", 100);
        host.host_ports.insert(("TCP".to_owned(), 80));
        assert_eq!(Room::default().pack(&place(4), &[host.clone(), host], 10).0, 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn packing_takes_each_pod_that_fits_and_overfills_nothing(
            sizes in prop::collection::vec(1_u64..5000, 0..30), limit in 0_usize..20
        ) {
            let pods: Vec<Pod> = sizes.iter().map(|size| pod("p", *size)).collect();
            let (count, taken) = Room::default().pack(&place(4), &pods, limit);
            let asked: u64 = taken.iter().map(|pod| pod.requests.cpu).sum();
            prop_assert!(count <= limit);
            prop_assert!(asked <= 4000 * count as u64);
            let fitting = sizes.iter().filter(|size| **size <= 4000).count();
            if count < limit {
                prop_assert_eq!(taken.len(), fitting);
            }
        }

        #[test]
        fn nothing_moves_to_where_there_is_no_room(free in 0_u64..4000, size in 1_u64..4000) {
            let mut other = place(4);
            other.free.cpu = free;
            let room = Room { places: vec![place(4), other] };
            prop_assert_eq!(room.without(0, &[pod("p", size)]).is_some(), size <= free);
        }
    }
}
