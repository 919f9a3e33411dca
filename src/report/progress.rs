//! Live progress as pure functions: what a run looks like at a moment, made from its events one by one, in one line. Who
//! draws it, and how often, is not decided here.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mock_clock::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::moment::since_start;
use super::notes::phase_word;
use super::telling::Totals;
use super::text::printable;
use crate::history::{Change, Event, ObjectEvent, Phase, StepChange, What};

/// What a run looks like at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The scenario that runs.
    pub scenario: String,
    /// The phase it is in, once it has begun.
    pub phase: Option<Phase>,
    /// What is being done.
    pub step: String,
    /// Virtual time since the run began.
    pub since: Duration,
    /// Servers there are.
    pub servers: usize,
    /// Nodes there are, and how many of them are ready.
    pub nodes: usize,
    /// Of these.
    pub ready: usize,
    /// Pods that wait.
    pub pending: usize,
    /// Pods that run.
    pub running: usize,
}

impl Progress {
    /// The line, not wider than `width` characters. What is left out first is the end of the step, then of the scenario.
    ///
    /// ```
    /// use scaleproof::report::Progress;
    ///
    /// let (scenario, step) = ("suites/a.yaml".to_owned(), "deploy web".to_owned());
    /// let progress = Progress { scenario, step, servers: 2, ..Progress::default() };
    /// assert_eq!(
    ///     progress.line(100),
    ///     "suites/a.yaml  start +0s  servers 2  nodes 0/0  pods 0+0 pending  deploy web"
    /// );
    /// assert_eq!(progress.line(20).chars().count(), 20);
    /// ```
    pub fn line(&self, width: usize) -> String {
        let phase = self.phase.map_or("start", phase_word);
        let state = format!(
            "  {phase} +{}  servers {}  nodes {}/{}  pods {}+{} pending  ",
            since_start(self.since),
            self.servers,
            self.ready,
            self.nodes,
            self.running,
            self.pending,
        );
        let fixed = state.chars().count();
        let scenario = shortened(&self.scenario, width.saturating_sub(fixed).max(12));
        let left = width.saturating_sub(fixed + scenario.chars().count());
        let step = shortened(&self.step, left);
        shortened(format!("{scenario}{state}{step}").trim_end(), width)
    }
}

impl Totals {
    /// How far many runs are, in one line.
    ///
    /// ```
    /// use scaleproof::report::{Standing, Totals};
    ///
    /// let totals = Totals::of([Standing::Held, Standing::Unknown]);
    /// assert_eq!(totals.line(10), "2 of 10 runs: 1 held, 0 violated, 1 unknown");
    /// ```
    pub fn line(&self, all: usize) -> String {
        let done = self.held + self.violated + self.unknown + self.not_applicable;
        let Self { held, violated, unknown, .. } = self;
        format!("{done} of {all} runs: {held} held, {violated} violated, {unknown} unknown")
    }
}

/// Follows a run, event by event.
#[derive(Debug, Default)]
pub struct Follower {
    progress: Progress,
    began: Option<Time>,
    servers: BTreeSet<u64>,
    /// Whether each node is ready.
    nodes: BTreeMap<String, bool>,
    /// Whether each pod runs; one that has finished is none.
    pods: BTreeMap<(String, String), bool>,
}

impl Follower {
    /// Follows a run of this scenario.
    pub fn new(scenario: &str) -> Self {
        let progress = Progress { scenario: scenario.to_owned(), ..Progress::default() };
        Self { progress, ..Self::default() }
    }

    /// What it looks like.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Takes the next event, and says whether something begins with it.
    pub fn see(&mut self, event: &Event) -> bool {
        let began = *self.began.get_or_insert(event.at);
        self.progress.since = event.at - began;
        match &event.what {
            What::Phase(phase) => {
                self.progress.phase = Some(*phase);
                self.progress.step.clear();
                return true;
            }
            What::Step(step) if step.change == StepChange::Begun => {
                self.progress.step.clone_from(&step.says);
                return true;
            }
            What::Server(server) => {
                match server.change {
                    Change::Deleted => self.servers.remove(&server.id),
                    Change::Added | Change::Modified => self.servers.insert(server.id),
                };
            }
            What::Object(object) => self.see_object(object),
            _ => {}
        }
        self.progress.servers = self.servers.len();
        self.progress.nodes = self.nodes.len();
        self.progress.ready = self.nodes.values().filter(|ready| **ready).count();
        self.progress.running = self.pods.values().filter(|runs| **runs).count();
        self.progress.pending = self.pods.len() - self.progress.running;
        false
    }

    fn see_object(&mut self, object: &ObjectEvent) {
        let gone = object.change == Change::Deleted;
        match object.kind.as_str() {
            "Node" if gone => drop(self.nodes.remove(&object.name)),
            "Node" => drop(self.nodes.insert(object.name.clone(), is_ready(&object.object))),
            "Pod" => {
                let key = (object.namespace.clone(), object.name.clone());
                match object.object["status"]["phase"].as_str() {
                    Some("Succeeded" | "Failed") => drop(self.pods.remove(&key)),
                    _ if gone => drop(self.pods.remove(&key)),
                    phase => drop(self.pods.insert(key, phase == Some("Running"))),
                }
            }
            _ => {}
        }
    }
}

fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// A text that is not longer than that, with a sign that something is missing.
fn shortened(text: &str, width: usize) -> String {
    let text = printable(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut kept: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::history::StepEvent;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_line_fits_and_is_one_line(
            scenario in any::<String>(),
            step in any::<String>(),
            width in 0_usize..200,
            servers in any::<usize>(),
        ) {
            let progress = Progress { scenario, step, servers, ..Progress::default() };
            let line = progress.line(width);
            prop_assert!(line.chars().count() <= width);
            prop_assert!(!line.contains(char::is_control));
        }
    }

    fn object(change: Change, kind: &str, name: &str, status: &Value) -> What {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        let object = json!({"status": status});
        What::Object(ObjectEvent { change, kind, namespace: String::new(), name, object })
    }

    #[test]
    fn what_is_there_is_counted_and_what_is_gone_is_not() {
        let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        let events = [
            What::Phase(Phase::Act),
            What::Step(StepEvent {
                step: 0,
                says: "deploy web".to_owned(),
                change: StepChange::Begun,
                may_fail: false,
            }),
            object(Change::Added, "Node", "a", &ready),
            object(Change::Added, "Node", "b", &json!({})),
            object(Change::Added, "Pod", "runs", &json!({"phase": "Running"})),
            object(Change::Added, "Pod", "waits", &json!({"phase": "Pending"})),
            object(Change::Added, "Pod", "gone", &json!({"phase": "Pending"})),
            object(Change::Modified, "Pod", "done", &json!({"phase": "Succeeded"})),
            object(Change::Deleted, "Pod", "gone", &json!({"phase": "Pending"})),
        ];
        let mut follower = Follower::new("a.yaml");
        let mut begins = Vec::new();
        for (second, what) in (0..).zip(events) {
            let at = Time::EPOCH + Duration::from_secs(second);
            begins.push(follower.see(&Event { at, real_us: 0, what }));
        }
        assert_eq!(begins.iter().filter(|begins| **begins).count(), 2);
        let line = "a.yaml  act +8s  servers 0  nodes 1/2  pods 1+1 pending  deploy web";
        assert_eq!(follower.progress().line(100), line);
    }
}
