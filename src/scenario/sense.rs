//! What can be written, and cannot be meant: settings that no subject takes, pods that no node has room for, deeds on nobody,
//! taints taken off that nobody has put on.
//!
//! As [`references`](super::references) it reads the tree. It tells only what it is sure of: what may come true in some
//! run is let pass, and told by the run if it did not.

use std::collections::BTreeSet;

use super::read::Known;
use crate::document::{Entry, Mistake, Node, cpu, meant, memory};
use crate::terms::{Room, SubjectOption};

/// Taints that the cluster or its autoscaler puts on and takes off.
const OF_OTHERS: [&str; 4] = ["kubernetes.io/", "ClusterAutoscaler", "karpenter.sh/", "cluster.x-k8s.io/"];

/// Every such mistake.
pub(super) fn mistakes(tree: &Node, known: Known<'_>) -> Vec<Mistake> {
    let mut sense = Sense { tree, known, found: Vec::new(), wanted: false, tainted: BTreeSet::new() };
    sense.options();
    sense.given();
    for step in tree.get("steps").map(Node::items).unwrap_or_default() {
        for Entry { key, node, .. } in step.entries() {
            sense.step(key, node);
        }
    }
    sense.found
}

struct Sense<'a> {
    tree: &'a Node,
    known: Known<'a>,
    found: Vec<Mistake>,
    /// Somebody has asked for pods, so that nodes may come.
    wanted: bool,
    /// Keys of taints that were put on, with the pool.
    tainted: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Sense<'a> {
    fn wrong(&mut self, at: &Node, what: String, hint: impl Into<String>) {
        self.found.push(Mistake::at(at.place, what).hint(hint));
    }

    fn in_given(&self, name: &str) -> Option<&'a Node> {
        self.tree.get("given")?.get(name)
    }

    fn steps(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        self.tree.get("steps").map(Node::items).unwrap_or_default().iter().flat_map(Node::entries)
    }

    fn pools(&self) -> &'a [Entry] {
        self.in_given("pools").map(Node::entries).unwrap_or_default()
    }

    fn options(&mut self) {
        for Entry { key, node, .. } in self.in_given("options").map(Node::entries).unwrap_or_default() {
            let option = serde_json::from_value::<SubjectOption>(key.as_str().into());
            let value = node.plain();
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let Ok(option) = option else { continue };
            if let Some(defects) = self.known.defects.filter(|_| option == SubjectOption::Defect) {
                if !defects.contains(&value.as_str()) {
                    let hint = meant(&value, defects.iter().copied());
                    self.wrong(node, format!("`mock-autoscaler` has no defect `{value}`"), hint);
                }
            } else if let Some(looks) = option.refuses(&value) {
                self.wrong(node, format!("`{key}` cannot be {value:?}"), looks);
            }
        }
    }

    fn given(&mut self) {
        for workload in self.in_given("workloads").map(Node::items).unwrap_or_default() {
            self.asked_for(workload);
        }
    }

    fn step(&mut self, kind: &str, step: &'a Node) {
        match kind {
            "deploy" => self.asked_for(step),
            "scale" | "create" => self.wanted = true,
            "change" => self.changed(step),
            "hurt" => {
                if let Some(by_hand) = step.get("taints_by_hand") {
                    self.tainted(by_hand.get("pool"), by_hand.get("taint"));
                }
            }
            "node" => self.by_hand(step),
            "cloud" => self.in_the_cloud(step),
            _ => {}
        }
    }

    fn changed(&mut self, step: &'a Node) {
        self.wanted |= step.get("pods").is_some();
        if ["pods", "budget", "labels"].iter().all(|field| step.get(field).is_none()) {
            let what = "nothing is changed here".to_owned();
            self.wrong(step, what, "there are `pods`, `budget`, `labels`");
        }
    }

    fn asked_for(&mut self, workload: &'a Node) {
        self.wanted = true;
        let text = |name: &str| {
            workload.get(name).map(|node| node.text().map_or_else(|| node.plain().to_string(), str::to_owned))
        };
        let asks = Room {
            cpu_milli: text("cpu").and_then(|text| cpu(&text)).unwrap_or(0),
            memory_mib: text("memory").and_then(|text| memory(&text)).unwrap_or(0),
        };
        let name = workload.get("name").and_then(Node::text).unwrap_or_default();
        let meant = self.steps().any(|entry| {
            entry.key == "until" && entry.node.get("unschedulable").and_then(Node::text) == Some(name)
        });
        let Some(rooms) = self.rooms().filter(|_| !meant) else { return };
        let fits = |room: &Room| room.cpu_milli >= asks.cpu_milli && room.memory_mib >= asks.memory_mib;
        if !rooms.iter().any(fits) {
            let most = rooms.iter().max_by_key(|room| (room.cpu_milli, room.memory_mib));
            let most = most.map_or_else(String::new, |most| {
                format!("the largest has {}m and {}Mi; ", most.cpu_milli, most.memory_mib)
            });
            let what = format!(
                "no node has room for a pod of `{name}`, neither one that is there nor one of any pool"
            );
            let hint = format!("{most}if that is meant, say `until: {{unschedulable: {name}, at_most: …}}`");
            self.wrong(workload.get("name").unwrap_or(workload), what, hint);
        }
    }

    /// What each kind of node has room for, if that is known of all of them.
    fn rooms(&self) -> Option<Vec<Room>> {
        let room = self.known.room?;
        let mut rooms = Vec::new();
        for pool in self.pools() {
            let also = pool.node.get("also").map(Node::items).unwrap_or_default().iter().map(Node::text);
            let machine = pool.node.get("type").map_or(Some("cx33"), Node::text);
            for machine in [machine].into_iter().chain(also) {
                rooms.push(room(machine?)?);
            }
        }
        for node in self.in_given("fixed_nodes").map(Node::items).unwrap_or_default() {
            let text = |name: &str| {
                node.get(name).map(|node| node.text().map_or_else(|| node.plain().to_string(), str::to_owned))
            };
            rooms.push(Room { cpu_milli: cpu(&text("cpu")?)?, memory_mib: memory(&text("memory")?)? });
        }
        Some(rooms)
    }

    fn tainted(&mut self, pool: Option<&'a Node>, taint: Option<&'a Node>) {
        if let (Some(pool), Some(key)) =
            (pool.and_then(Node::text), taint.and_then(|taint| taint.get("key")?.text()))
        {
            self.tainted.insert((pool, key));
        }
    }

    fn by_hand(&mut self, step: &'a Node) {
        let Some(pool) = step.get("pool").and_then(Node::text) else { return };
        let Some(given) = self.pools().iter().find(|known| known.key == pool) else { return };
        let number = |name: &str| given.node.get(name).and_then(Node::count).unwrap_or(0);
        if number("initial") == 0 && (number("max") == 0 || number("min") == 0 && !self.wanted) {
            let what = format!(
                "the pool `{pool}` has no node by then: none is there at the beginning, and nobody asks for any"
            );
            self.wrong(step, what, "give it an `initial`, or deploy something first");
        }
        self.tainted(step.get("pool"), step.get("taint"));
        let Some(untaint) = step.get("untaint") else { return };
        let Some(key) = untaint.text().filter(|key| !self.may_have(given, key)) else { return };
        let what = format!("no node of `{pool}` has a taint `{key}` by then");
        let of_pool = self.tainted.iter().filter(|(of, _)| *of == pool).map(|(_, key)| *key);
        let hint = meant(key, of_pool.chain(taints(given)));
        self.wrong(untaint, what, hint);
    }

    fn may_have(&self, pool: &'a Entry, key: &str) -> bool {
        let by_hand = self.tainted.iter().any(|(of, known)| *of == pool.key && *known == key);
        by_hand || taints(pool).any(|known| known == key) || OF_OTHERS.iter().any(|part| key.contains(part))
    }

    /// Servers of the beginning are called by pool and number; how the subject calls its own, nobody knows beforehand.
    fn in_the_cloud(&mut self, step: &'a Node) {
        if step.get("what").is_some_and(|what| what.text() != Some("server")) {
            return;
        }
        let named = ["server", "which"].iter().find_map(|field| step.get(field));
        let Some((named, name)) = named.and_then(|node| Some((node, node.text()?))) else { return };
        let first = |pool: &Entry| {
            let initial = pool.node.get("initial").and_then(Node::count).unwrap_or(0);
            let key = pool.key.clone();
            (0..initial)
                .flat_map(move |number| [format!("{key}-{number}"), format!("{key}-first-{}", number + 1)])
        };
        let known: Vec<String> = self.pools().iter().flat_map(first).collect();
        let renamed = self
            .steps()
            .any(|entry| entry.key == "cloud" && entry.node.get("name").and_then(Node::text) == Some(name));
        if !renamed && !known.iter().any(|known| known == name) {
            let hint =
                meant(name, known.iter().map(String::as_str).filter(|known| !known.contains("-first-")));
            self.wrong(named, format!("no server is called `{name}`"), hint);
        }
    }
}

/// The keys of the taints that new nodes of a pool have.
fn taints(pool: &Entry) -> impl Iterator<Item = &str> {
    let lists =
        ["taints", "startup_taints", "registers_with"].into_iter().filter_map(|name| pool.node.get(name));
    lists.flat_map(Node::items).filter_map(|taint| taint.get("key")?.text())
}
