//! The judgement at work, one situation a test, and each time the defect that judges wrongly.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::memory::Outcome;
use crate::settings::tests::told;
use crate::view::tests::{START, empty, pod, resources};
use crate::view::{Budget, Requirement, Selector, Taint, Toleration};

/// A world that goes on from loop to loop.
struct Life {
    view: View,
    memory: Memory,
    settings: Settings,
    expander: Expander,
}

impl Life {
    fn with(arguments: &[&str], defect: &str) -> Self {
        let defect = format!("--defect={defect}");
        let mut all = vec!["--nodes=0:3:small:fsn1:a"];
        all.extend(arguments);
        if defect != "--defect=" {
            all.push(&defect);
        }
        let settings = told(&all).unwrap();
        Self { view: empty(), memory: Memory::default(), settings, expander: Expander::new(0) }
    }

    fn look(&mut self) -> Decision {
        decide(&self.view, &mut self.memory, &self.settings, &mut self.expander)
    }

    /// Loops until the time is over; gives the first removals and when they were.
    fn removals_within(&mut self, time: u64) -> Option<(Vec<String>, u64)> {
        for minute in 0..=time {
            let decision = self.look();
            if !decision.removals.is_empty() {
                return Some((decision.removals.into_iter().map(|removal| removal.node).collect(), minute));
            }
            self.view.now += minutes(1);
        }
        None
    }

    /// How many machines are bought at this moment.
    fn bought(&mut self) -> usize {
        self.look().buys.iter().map(|buy| buy.count).sum()
    }
}

fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// What is bought without a defect, and with each of these.
#[track_caller]
fn buys(arguments: &[&str], prepare: impl Fn(&mut Life), right: usize, defects: &[(&str, usize)]) {
    for (defect, expected) in [("", right)].iter().chain(defects) {
        let mut life = Life::with(arguments, defect);
        prepare(&mut life);
        assert_eq!(life.bought(), *expected, "{defect}");
    }
}

/// After how many minutes something is removed, without a defect and with each of these.
#[track_caller]
fn removes(
    arguments: &[&str],
    prepare: impl Fn(&mut Life),
    right: Option<u64>,
    defects: &[(&str, Option<u64>)],
) {
    for (defect, expected) in [("", right)].iter().chain(defects) {
        let mut life = Life::with(arguments, defect);
        prepare(&mut life);
        assert_eq!(life.removals_within(60).map(|(_, minute)| minute), *expected, "{defect}");
    }
}

#[test]
fn pods_that_wait_get_what_they_need() {
    let waiting = |life: &mut Life| {
        for name in ["a", "b", "c"] {
            life.view.wait(pod(name, 1000));
        }
    };
    buys(&[], waiting, 2, &[("ignores-pending-pods", 0)]);
}

#[test]
fn what_is_on_its_way_counts() {
    let coming = |life: &mut Life| {
        life.view.wait(pod("a", 1500));
        life.view.server(1, "a");
    };
    buys(&[], coming, 0, &[("double-buys-while-upcoming", 1)]);
    let slow = |life: &mut Life| {
        life.view.wait(pod("a", 1500));
        let now = life.view.now;
        let node = life.view.node(1, "a", 2);
        (node.ready, node.created) = (false, now - minutes(5));
    };
    buys(&[], slow, 0, &[("replaces-slow-nodes", 1)]);
    let tainted = |life: &mut Life| {
        life.view.wait(pod("a", 1500));
        let now = life.view.now;
        let node = life.view.node(1, "a", 2);
        node.created = now - minutes(5);
        let (key, effect) = ("startup-taint.cluster-autoscaler.kubernetes.io/x", "NoSchedule");
        node.taints.push(Taint { key: key.to_owned(), effect: effect.to_owned(), value: String::new() });
    };
    buys(&[], tainted, 0, &[("ignores-startup-taints", 1)]);
}

#[test]
fn nothing_is_bought_in_vain() {
    buys(&[], |life| life.view.wait(pod("a", 99_000)), 0, &[("buys-for-impossible-pods", 1)]);
    let chosen = |life: &mut Life| {
        let mut pod = pod("a", 100);
        pod.selector.insert("disk".to_owned(), "tape".to_owned());
        life.view.wait(pod);
    };
    buys(&[], chosen, 0, &[("ignores-node-selector", 1)]);
    let expendable = |life: &mut Life| {
        let mut pod = pod("a", 100);
        pod.priority = -100;
        life.view.wait(pod);
    };
    buys(&[], expendable, 0, &[("buys-for-expendable-pods", 1)]);
    let nominated = |life: &mut Life| {
        let mut pod = pod("a", 100);
        pod.nominated = true;
        life.view.wait(pod);
    };
    buys(&[], nominated, 0, &[("buys-for-nominated-pods", 1)]);
    let waiting = |life: &mut Life| life.view.wait(pod("a", 100));
    buys(&["--new-pod-scale-up-delay=2m"], waiting, 0, &[("ignores-scale-up-delay", 1)]);
    let busy = |life: &mut Life| {
        life.view.wait(pod("a", 1500));
        let mut daemon = pod("d", 1000);
        daemon.owner = Owner::DaemonSet;
        life.view.daemons.push(daemon);
    };
    buys(&[], busy, 0, &[("forgets-daemon-sets", 1)]);
}

#[test]
fn taints_and_cordons_are_seen() {
    let taint = |life: &mut Life| {
        let (key, effect) = ("dedicated".to_owned(), "NoSchedule".to_owned());
        life.settings.pools.get_mut("a").unwrap().taints.push(Taint { key, effect, value: String::new() });
    };
    let refused = |life: &mut Life| {
        taint(life);
        life.view.wait(pod("a", 100));
    };
    buys(&[], refused, 0, &[("ignores-pool-taints", 1)]);
    let passing = |life: &mut Life| {
        taint(life);
        life.settings.pools.get_mut("a").unwrap().taints[0].key =
            "startup-taint.cluster-autoscaler.kubernetes.io/x".to_owned();
        life.view.wait(pod("a", 100));
    };
    buys(&[], passing, 1, &[]);
    let tolerated = |life: &mut Life| {
        taint(life);
        let mut pod = pod("a", 100);
        pod.tolerations.push(Toleration { key: "dedicated".to_owned(), ..Toleration::default() });
        pod.tolerations[0].value = Some(String::new());
        life.view.wait(pod);
    };
    buys(&[], tolerated, 1, &[]);
    let cordoned = |life: &mut Life| {
        life.view.node(1, "a", 2).cordoned = true;
        life.view.wait(pod("a", 100));
    };
    buys(&[], cordoned, 1, &[("counts-cordoned-nodes", 0)]);
}

#[test]
fn no_limit_is_crossed() {
    let many = |life: &mut Life| {
        for number in 0..8 {
            life.view.wait(pod(&number.to_string(), 1500));
        }
    };
    buys(&[], many, 3, &[("ignores-max", 8)]);
    buys(&["--max-nodes-total=2"], many, 2, &[("ignores-nodes-total", 3)]);
    buys(&["--cores-total=0:5"], many, 2, &[("ignores-cores-total", 3)]);
}

#[test]
fn a_minimum_is_filled_when_asked() {
    let two = "--nodes=2:3:small:fsn1:a";
    buys(&[two], |_| {}, 0, &[("fills-min-without-flag", 2)]);
    buys(&[two, "--enforce-node-group-min-size"], |_| {}, 2, &[("never-fills-min", 0)]);
}

#[test]
fn a_broken_pool_stops_no_other() {
    let waiting = |life: &mut Life| life.view.wait(pod("a", 100));
    buys(&["--nodes=0:3:cx11:fsn1:b"], waiting, 1, &[("broken-pool-stops-all", 0)]);
}

#[test]
fn a_failing_pool_gives_way_to_another() {
    for (defect, expected) in [("", "b"), ("never-backs-off", "a"), ("backs-off-all-pools", "")] {
        let mut life = Life::with(&["--nodes=0:3:big:fsn1:b"], defect);
        life.view.wait(pod("p", 100));
        assert_eq!(life.look().buys[0].pool, "a");
        let name = "a-1".to_owned();
        life.memory.learn(life.view.now, &Outcome::NotBought { name, pool: "a".to_owned() }, &life.settings);
        life.view.now += Duration::from_secs(10);
        let buys = life.look().buys;
        assert_eq!(buys.first().map_or("", |buy| &buy.pool), expected, "{defect}");
    }
}

#[test]
fn what_never_comes_is_given_up_and_replaced() {
    for (defect, discarded, replaced) in [
        ("", 15, true),
        ("leaks-unregistered-servers", 99, true),
        ("removes-unregistered-early", 8, true),
        ("trusts-phantoms", 99, false),
    ] {
        let mut life = Life::with(&["--nodes=0:3:big:fsn1:b"], defect);
        life.view.wait(pod("p", 1500));
        life.look();
        life.view.server(1, "a");
        let (mut gone, mut bought) = (99, false);
        for minute in 0..30 {
            let decision = life.look();
            if !decision.discard.is_empty() && gone == 99 {
                gone = minute;
            }
            bought |= decision.buys.iter().any(|buy| minute <= 16 && !buy.pods.is_empty());
            life.view.now += minutes(1);
        }
        assert_eq!((gone, bought), (discarded, replaced), "{defect}");
    }
}

#[test]
fn minima_hold_whoever_is_missing() {
    for (defect, expected) in [("", 0), ("removes-unregistered-below-min", 1)] {
        let mut life = Life::with(&["--nodes=1:3:small:fsn1:a"], defect);
        life.view.server(1, "a");
        life.look();
        life.view.now += minutes(20);
        assert_eq!(life.look().discard.len(), expected, "{defect}");
    }
}

#[test]
fn an_empty_node_goes_after_ten_minutes() {
    let idle = |life: &mut Life| life.view.node(1, "a", 2).ready = true;
    let wrong = [("removes-too-early", Some(5)), ("removes-too-late", Some(20)), ("keeps-last-node", None)];
    removes(&[], idle, Some(10), &wrong);
    removes(&["--nodes=1:3:small:fsn1:a"], idle, None, &[("shrinks-below-min", Some(10))]);
    let kept = |life: &mut Life| {
        let key = "cluster-autoscaler.kubernetes.io/scale-down-disabled".to_owned();
        life.view.node(1, "a", 2).annotations.insert(key, "true".to_owned());
    };
    removes(&[], kept, None, &[("ignores-scale-down-disabled", Some(10))]);
}

#[test]
fn a_node_that_is_not_ready_goes_later() {
    let unready = |life: &mut Life| {
        for id in 1..4 {
            life.view.node(id, "a", 2).ready = id != 1;
            let mut full = pod(&id.to_string(), 1900);
            full.owner = Owner::Other;
            if id != 1 {
                life.view.run(full, &format!("a-{id}"));
            }
        }
    };
    removes(&[], unready, Some(20), &[("keeps-unready-nodes", None)]);
    let switch = &["--scale-down-unready-enabled=false"];
    removes(switch, unready, None, &[("removes-unready-unasked", Some(20))]);
}

#[test]
fn pauses_are_kept() {
    let after_scale_up = |life: &mut Life| {
        life.view.node(1, "a", 2);
        life.memory.last_scale_up = Some(START + minutes(5));
    };
    removes(&[], after_scale_up, Some(15), &[("no-pause-after-scale-up", Some(10))]);
    for (defect, expected) in [("", 15), ("no-pause-after-failure", 10)] {
        let mut life = Life::with(&[], defect);
        life.view.node(1, "a", 2);
        let (nodes, _) = life.removals_within(60).unwrap();
        let failed = Outcome::NotRemoved { node: nodes[0].clone() };
        life.memory.learn(life.view.now, &failed, &life.settings);
        let (_, again) = life.removals_within(60).unwrap();
        assert_eq!(again, expected, "{defect}");
    }
}

/// Two nodes, one of them with this pod; the other has room for it.
fn guest(change: impl Fn(&mut Pod)) -> impl Fn(&mut Life) {
    move |life: &mut Life| {
        life.view.node(1, "a", 2);
        life.view.node(2, "a", 2);
        let mut stays = pod("stays", 1100);
        stays
            .annotations
            .insert("cluster-autoscaler.kubernetes.io/safe-to-evict".to_owned(), "false".to_owned());
        life.view.run(stays, "a-2");
        let mut pod = pod("guest", 500);
        change(&mut pod);
        life.view.run(pod, "a-1");
    }
}

#[test]
fn a_guest_who_can_move_is_moved() {
    removes(&[], guest(|_| {}), Some(10), &[]);
}

#[test]
fn guests_who_block_are_left_alone() {
    let unsafe_to_evict = |pod: &mut Pod| {
        let key = "cluster-autoscaler.kubernetes.io/safe-to-evict".to_owned();
        pod.annotations.insert(key, "false".to_owned());
    };
    let system = |pod: &mut Pod| pod.namespace = "kube-system".to_owned();
    let local = |pod: &mut Pod| pod.local_volumes.push("data".to_owned());
    let bare = |pod: &mut Pod| pod.owner = Owner::Nobody;
    let moved = Some(10);
    removes(&[], guest(unsafe_to_evict), None, &[("ignores-safe-to-evict", moved)]);
    removes(&[], guest(bare), None, &[("evicts-bare-pods", moved)]);
    removes(&[], guest(local), None, &[("ignores-local-storage", moved)]);
    removes(&["--skip-nodes-with-local-storage=false"], guest(local), moved, &[]);
    // It blocks for the first hour of its life, and then the node must be unneeded.
    removes(&[], guest(system), None, &[("evicts-system-pods", moved)]);
    removes(&["--blocking-system-pod-distruption-timeout=20m"], guest(system), Some(19 + 10), &[]);
    let lifted = &["--skip-nodes-with-system-pods=false"];
    removes(lifted, guest(system), moved, &[("system-pods-always-block", None)]);
    let full = |pod: &mut Pod| pod.requests.cpu = 1100;
    let roomy = |life: &mut Life| {
        guest(full)(life);
        life.view
            .node(3, "a", 2)
            .annotations
            .insert("cluster-autoscaler.kubernetes.io/scale-down-disabled".to_owned(), "true".to_owned());
    };
    removes(&[], roomy, None, &[("ignores-utilization", moved)]);
    let homeless = |pod: &mut Pod| pod.requests.cpu = 950;
    removes(&[], guest(homeless), None, &[("drains-without-room", moved)]);
    let small = |life: &mut Life| {
        guest(|_| {})(life);
        life.view.replicas.insert("web".to_owned(), 1);
    };
    removes(&["--min-replica-count=2"], small, None, &[("ignores-min-replica-count", moved)]);
    let budgeted = |life: &mut Life| {
        guest(|_| {})(life);
        let selector = Selector(vec![Requirement::is("app", "web")]);
        life.view.budgets.push(Budget { namespace: "default".to_owned(), selector, allowed: 0 });
    };
    removes(&[], budgeted, None, &[("ignores-budgets", moved)]);
}

#[test]
fn an_expendable_guest_counts_for_nothing() {
    let expendable = guest(|pod| (pod.priority, pod.requests.cpu, pod.owner) = (-100, 1900, Owner::Nobody));
    removes(&[], expendable, Some(10), &[("buys-for-expendable-pods", None)]);
}

#[test]
fn a_daemon_blocks_nobody() {
    let daemon = guest(|pod| pod.owner = Owner::DaemonSet);
    removes(&[], daemon, Some(10), &[("daemon-sets-block", None)]);
}

#[test]
fn full_nodes_go_one_at_a_time_and_empty_ones_ten() {
    for (defect, expected) in [("", 1), ("drains-several-at-once", 3)] {
        let mut life = Life::with(&["--nodes=0:9:small:fsn1:a"], defect);
        for id in 1..=4 {
            life.view.node(id, "a", 2);
            life.view.run(pod(&id.to_string(), 400), &format!("a-{id}"));
        }
        assert_eq!(life.removals_within(60).unwrap().0.len(), expected, "{defect}");
    }
    for (defect, expected) in [("", 10), ("removes-all-empty-at-once", 15)] {
        let mut life = Life::with(&["--nodes=0:20:small:fsn1:a"], defect);
        for id in 1..=15 {
            life.view.node(id, "a", 2);
        }
        assert_eq!(life.removals_within(60).unwrap().0.len(), expected, "{defect}");
    }
}

#[test]
fn soft_taints_come_and_go() {
    for (defect, expected) in [("", 1), ("leaves-soft-taints", 0)] {
        let mut life = Life::with(&[], defect);
        life.view.node(1, "a", 2);
        assert_eq!(life.look().mark, ["a-1"]);
        let (key, effect) = (CANDIDATE.to_owned(), "PreferNoSchedule".to_owned());
        life.view.node(1, "a", 2).taints.push(Taint { key, effect, value: String::new() });
        life.view.run(pod("p", 1900), "a-1");
        assert_eq!(life.look().unmark.len(), expected, "{defect}");
    }
}

#[test]
fn an_unhealthy_cluster_is_left_alone() {
    let unhealthy = |life: &mut Life| {
        for id in 1..=10 {
            life.view.node(id, "a", 2).ready = id > 5;
        }
        life.view.wait(pod("p", 1900));
        life.view.wait(pod("q", 2000));
        for id in 6..=10 {
            life.view.run(pod(&id.to_string(), 1900), &format!("a-{id}"));
        }
    };
    buys(&["--nodes=0:20:small:fsn1:a"], unhealthy, 0, &[("scales-unhealthy-cluster", 2)]);
}

#[test]
fn foreign_servers_are_not_touched() {
    for (defect, expected) in [("", 0), ("touches-foreign-servers", 1)] {
        let mut life = Life::with(&[], defect);
        life.view.server(1, "a");
        life.view.servers[0].labels.clear();
        life.look();
        life.view.now += minutes(20);
        assert_eq!(life.look().discard.len(), expected, "{defect}");
    }
}

#[test]
fn a_ready_node_without_provider_id_is_not_destroyed() {
    for (defect, expected) in [("", 0), ("needs-provider-id", 1)] {
        let mut life = Life::with(&[], defect);
        life.view.node(1, "a", 2).provider_id.clear();
        life.view.run(pod("p", 1900), "a-1");
        life.look();
        life.view.now += minutes(20);
        assert_eq!(life.look().discard.len(), expected, "{defect}");
    }
}

#[test]
fn a_node_that_never_becomes_ready_is_given_up() {
    let never = |life: &mut Life| {
        let node = life.view.node(1, "a", 2);
        (node.ready, node.created) = (false, START);
    };
    removes(&[], never, Some(35), &[("keeps-never-ready-nodes", None)]);
}

#[test]
fn a_pool_above_its_maximum_is_not_shrunk() {
    for (defect, expected) in [("", 0), ("shrinks-above-max", 1)] {
        let mut life = Life::with(&[], defect);
        for id in 1..=4 {
            life.view.node(id, "a", 2);
            life.view.run(pod(&id.to_string(), 1900), &format!("a-{id}"));
        }
        assert_eq!(life.look().discard.len(), expected, "{defect}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever there is: no pool leaves its limits by what is decided, and nobody who runs loses the place.
    #[test]
    fn no_decision_leaves_the_limits(
        nodes in prop::collection::vec((0_u64..2000, any::<bool>()), 0..6),
        waiting in prop::collection::vec(1_u64..2500, 0..12),
        nodeless in 0_u64..4,
        min in 0_usize..3,
    ) {
        let pool = format!("--nodes={min}:5:small:fsn1:a");
        let mut life = Life::with(&[&pool, "--enforce-node-group-min-size"], "");
        for (id, (used, ready)) in (1..).zip(&nodes) {
            life.view.node(id, "a", 2).ready = *ready;
            if *used > 0 {
                life.view.run(pod(&format!("r{id}"), *used), &format!("a-{id}"));
            }
        }
        for id in 0..nodeless {
            life.view.server(100 + id, "a");
        }
        for (number, size) in waiting.iter().enumerate() {
            life.view.wait(pod(&format!("w{number}"), *size));
        }
        let before = life.view.servers.len();
        for _ in 0..30 {
            let decision = life.look();
            let bought: usize = decision.buys.iter().map(|buy| buy.count).sum();
            prop_assert!(bought == 0 || before + bought <= 5, "{decision:?}");
            let gone = decision.removals.len() + decision.discard.len();
            prop_assert!(gone == 0 || before - gone >= min, "{decision:?}");
            if bought + gone > 0 {
                break;
            }
            life.view.now += minutes(1);
        }
    }

    /// The same world and the same memory give the same decision.
    #[test]
    fn decisions_are_a_function(sizes in prop::collection::vec(1_u64..2500, 0..12)) {
        let decision = || {
            let mut life = Life::with(&["--nodes=0:9:big:fsn1:b", "--expander=random"], "");
            for (number, size) in sizes.iter().enumerate() {
                life.view.wait(pod(&number.to_string(), *size));
            }
            life.look()
        };
        prop_assert_eq!(decision(), decision());
    }
}

#[test]
fn memory_is_a_resource_too() {
    let mut life = Life::with(&[], "");
    let mut big = pod("p", 100);
    big.requests = resources(100, 64);
    life.view.wait(big);
    let decision = life.look();
    assert!(decision.buys.is_empty());
    assert_eq!(decision.hopeless.len(), 1);
}
