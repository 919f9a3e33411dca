//! What no schema can say of a scenario: that what is named is given, and that numbers agree with each other.
//!
//! It reads the tree and not the scenario, so that these mistakes are told together with all others.

use std::collections::BTreeMap;

use super::When;
use super::read::{Judge, Known};
use crate::code::Code;
use crate::document::{Entry, Mistake, Node, meant};

/// Every such mistake.
pub(super) fn mistakes(tree: &Node, known: Known<'_>) -> Vec<Mistake> {
    let mut sight =
        Sight { tree, known, found: Vec::new(), workloads: BTreeMap::new(), faults: BTreeMap::new() };
    if let Some(codes) = known.codes {
        sight.codes(codes);
    }
    sight.pools();
    sight.given();
    for step in tree.get("steps").map(Node::items).unwrap_or_default() {
        for entry in step.entries() {
            sight.step(&entry.key, &entry.node);
        }
    }
    sight.found
}

/// What is known at a step.
struct Sight<'a> {
    tree: &'a Node,
    known: Known<'a>,
    found: Vec<Mistake>,
    /// Workloads that have been asked for, with the line.
    workloads: BTreeMap<&'a str, u64>,
    /// Faults that hurt or have hurt, with the line of their healing.
    faults: BTreeMap<&'a str, Option<u64>>,
}

impl<'a> Sight<'a> {
    fn codes(&mut self, codes: &[Code]) {
        for list in ["expect", "convicts"] {
            for code in self.tree.get(list).map(Node::items).unwrap_or_default() {
                let Some(text) = code.text().filter(|text| text.parse::<Code>().is_ok()) else { continue };
                if !codes.iter().any(|known| known.as_str() == text) {
                    let letters = text.trim_end_matches(|char: char| char.is_ascii_digit());
                    let near: Vec<&str> =
                        codes.iter().map(Code::as_str).filter(|code| code.starts_with(letters)).collect();
                    let what = format!("there is no expectation {text}");
                    let hint = match near.as_slice() {
                        [] => "`scaleproof list` shows all".to_owned(),
                        near => meant(text, near.iter().copied()),
                    };
                    self.found.push(Mistake::at(code.place, what).hint(hint));
                }
            }
        }
    }

    fn pools(&mut self) {
        for pool in self.pool_entries() {
            for (name, known) in [("type", self.known.machines), ("location", self.known.locations)] {
                let named = pool.node.get(name).and_then(|node| Some((node, node.text()?)));
                if let (Some((node, text)), Some(known)) = (named, known)
                    && !known.contains(&text)
                {
                    let what = format!("the cloud has no {name} `{text}`");
                    let hint = meant(text, known.iter().copied());
                    self.found.push(Mistake::at(node.place, what).hint(hint));
                }
            }
            let number = |name: &str| pool.node.get(name).and_then(Node::count);
            let Some(max) = number("max") else { continue };
            for name in ["min", "initial"] {
                if let (Some(value), Some(at)) = (number(name), pool.node.get(name))
                    && value > max
                {
                    let what =
                        format!("`{name}` of pool `{}` is {value}, above its `max` of {max}", pool.key);
                    self.found.push(Mistake::at(at.place, what));
                }
            }
        }
    }

    fn pool_entries(&self) -> &'a [Entry] {
        self.tree.get("given").and_then(|given| given.get("pools")).map(Node::entries).unwrap_or_default()
    }

    fn given(&mut self) {
        let Some(given) = self.tree.get("given") else { return };
        for workload in given.get("workloads").map(Node::items).unwrap_or_default() {
            self.asked_for(workload);
        }
        let mut names = BTreeMap::new();
        for node in given.get("fixed_nodes").map(Node::items).unwrap_or_default() {
            let Some(name) = node.get("name") else { continue };
            if let Some(line) = name.text().and_then(|text| names.insert(text, name.place.line)) {
                self.found.push(Mistake::at(name.place, format!("this name is taken by line {line}")));
            }
        }
    }

    fn asked_for(&mut self, workload: &'a Node) {
        let Some(name) = workload.get("name") else { return };
        let Some(text) = name.text() else { return };
        if let Some(line) = self.workloads.insert(text, name.place.line) {
            let what = format!("the workload `{text}` is there already, since line {line}");
            self.found.push(Mistake::at(name.place, what).hint("use `scale`, or another name"));
        }
    }

    fn step(&mut self, kind: &str, step: &'a Node) {
        match kind {
            "deploy" => self.asked_for(step),
            "scale" | "change" => self.workload(step.get("workload")),
            "remove" => {
                self.workload(Some(step));
                step.text().map(|name| self.workloads.remove(name));
            }
            "until" => self.until(step),
            "expect" => self.expect(step),
            "hurt" => self.hurt(step),
            "heal" => self.heal(step),
            "node" | "group" => self.pool(step.get("pool")),
            "pool" => self.pool(step.get("name")),
            "cloud" => self.of_the_cloud(step, self.known.deed),
            _ => {}
        }
    }

    fn until(&mut self, step: &'a Node) {
        for name in ["running", "unschedulable"] {
            self.workload(step.get(name));
        }
        // What is removed is waited for to be gone.
        if let Some(gone) = step.get("gone").filter(|_| !self.removed(step)) {
            self.workload(Some(gone));
        }
        for name in ["servers", "ready_nodes"] {
            self.pool(step.get(name).and_then(|of| of.get("pool")));
        }
        for name in ["ordered", "given_back"] {
            self.pool(step.get(name));
        }
        self.workload(step.get("running_for").and_then(|of| of.get("workload")));
        self.pool(step.get("server_status").and_then(|of| of.get("pool")));
        let times = step.get("bitten_times").and_then(|of| of.get("fault"));
        if let Some(fault) = step.get("bitten").or(times) {
            let known: Vec<&str> = self.faults.keys().copied().collect();
            self.named(fault, "fault", &known, "hurt");
        }
    }

    fn expect(&mut self, step: &'a Node) {
        self.until(step);
        self.workload(step.get("pods").and_then(|of| of.get("workload")));
        for name in ["nodes", "size", "orders"] {
            self.pool(step.get(name).and_then(|of| of.get("pool")));
        }
        if step.entries().is_empty() {
            return;
        }
        let told: Vec<&str> = When::WORDS.into_iter().filter(|word| step.get(word).is_some()).collect();
        let hint = "within: at some moment of this time; throughout: at each; never: at none";
        match told.as_slice() {
            [_] => {}
            [] => self.found.push(Mistake::at(step.place, "it does not say when").hint(hint)),
            [one, other, ..] => {
                let what = format!("it says both `{one}` and `{other}`");
                self.found.push(Mistake::at(step.place, what).hint(hint));
            }
        }
        for name in ["ordered", "given_back"] {
            if let (Some(_), Some(time)) = (step.get(name), step.get("throughout")) {
                let what = format!("`{name}` happens at a moment, and not throughout a time");
                self.found.push(Mistake::at(time.place, what).hint("ask for it `within` a time or `never`"));
            }
        }
        if let (Some(object), Some(_)) =
            (step.get("object"), step.get("object").and_then(|it| it.get("path")))
            && let Some(condition) = object.get("condition")
        {
            let what = "it says both `path` and `condition`";
            self.found
                .push(Mistake::at(condition.place, what).hint("a condition is found by its type alone"));
        }
    }

    /// Whether the workload that is to be gone was there at some time before.
    fn removed(&self, step: &Node) -> bool {
        let name = step.get("gone").and_then(Node::text);
        let steps = self.tree.get("steps").map(Node::items).unwrap_or_default();
        let before = steps.iter().take_while(|other| other.place < step.place);
        before.filter_map(|other| other.get("remove")).any(|other| other.text() == name)
    }

    fn hurt(&mut self, step: &'a Node) {
        let what = step.entries().iter().find(|entry| !["name", "lasting"].contains(&entry.key.as_str()));
        let Some(what) = what else { return };
        match what.key.as_str() {
            "pod_never_ends" => self.workload(Some(&what.node)),
            "cloud" => self.of_the_cloud(&what.node, self.known.trouble),
            _ => self.pool(what.node.get("pool")),
        }
        let (name, place) = match step.get("name").and_then(|name| Some((name.text()?, name.place))) {
            Some(named) => named,
            None => (what.key.as_str(), what.place),
        };
        if self.faults.insert(name, None).is_some() {
            let told = format!("the fault `{name}` is there already");
            self.found.push(Mistake::at(place, told).hint("give it a `name` of its own"));
        }
    }

    fn of_the_cloud(&mut self, node: &Node, check: Option<Judge>) {
        if let Some(Err(why)) = check.map(|check| check(&node.plain())) {
            self.found.push(Mistake::at(node.place, why));
        }
    }

    fn heal(&mut self, step: &'a Node) {
        let Some(name) = step.text() else { return };
        match self.faults.get(name) {
            None => {
                let known: Vec<&str> = self.faults.keys().copied().collect();
                self.named(step, "fault", &known, "hurt");
            }
            Some(Some(line)) => {
                let what = format!("the fault `{name}` is healed by line {line} already");
                self.found.push(Mistake::at(step.place, what));
            }
            Some(None) => drop(self.faults.insert(name, Some(step.place.line))),
        }
    }

    fn workload(&mut self, name: Option<&'a Node>) {
        if let Some(name) = name {
            let known: Vec<&str> = self.workloads.keys().copied().collect();
            self.named(name, "workload", &known, "deployed");
        }
    }

    fn pool(&mut self, name: Option<&'a Node>) {
        if let Some(name) = name {
            let known: Vec<&str> = self.pool_entries().iter().map(|pool| pool.key.as_str()).collect();
            self.named(name, "pool", &known, "given");
        }
    }

    fn named(&mut self, name: &Node, kind: &str, known: &[&str], how: &str) {
        let Some(text) = name.text().filter(|text| !known.contains(text)) else { return };
        let what = format!("the {kind} `{text}` is not {how} here");
        let hint = meant(text, known.iter().copied());
        self.found.push(Mistake::at(name.place, what).hint(hint));
    }
}
