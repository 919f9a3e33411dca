//! Controllers under test: they run as they do in earnest, on a clock that is moved by hand.

use std::time::Duration;

use mock_clock::{Hand, Time, VirtualClock};
use serde_json::Value;
use tokio::task::JoinSet;

use super::frame::{Controller, run};
use crate::api::{Api, Delete, Target, Write};
use crate::registry::Resource;

/// So many rounds in which nothing is written, and all is quiet.
const QUIET: usize = 40;

pub(crate) struct Rig {
    pub(crate) api: Api,
    pub(crate) hand: Hand,
    pub(crate) tasks: JoinSet<()>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let (clock, hand) = VirtualClock::manual("2030-01-01T00:00:00Z".parse::<Time>().unwrap());
        let api = Api::new(clock, 1);
        crate::birth::furnish(&api).unwrap();
        Self { api, hand, tasks: JoinSet::new() }
    }

    pub(crate) fn start<C: Controller + 'static>(
        &mut self,
        name: &'static str,
        shelves: &'static [&'static str],
        make: impl Fn() -> C + Send + 'static,
    ) where
        C::Item: Sync,
    {
        self.tasks.spawn(run(self.api.clone(), name, shelves, make));
    }

    /// Lets everybody do what there is to do now.
    pub(crate) async fn settle(&self) {
        let mut quiet = 0;
        while quiet < QUIET {
            let before = self.api.store().revision();
            tokio::task::yield_now().await;
            quiet = if self.api.store().revision() == before { quiet + 1 } else { 0 };
        }
    }

    /// Lets time pass, second by second.
    pub(crate) async fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.settle().await;
            self.hand.advance(Duration::from_secs(1));
        }
        self.settle().await;
    }

    fn with<T>(&self, plural: &str, act: impl FnOnce(&Resource) -> T) -> T {
        let registry = self.api.registry();
        act(registry.resources().find(|resource| resource.plural == plural).unwrap())
    }

    pub(crate) fn put(&self, plural: &str, namespace: &str, body: Value) -> Value {
        self.with(plural, |resource| {
            let written = self.api.create(resource, namespace, body, &Write::by("tester"));
            written.unwrap().object.value()
        })
    }

    pub(crate) fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        self.with(plural, |resource| Some(self.api.find(resource, namespace, name)?.value()))
    }

    pub(crate) fn edit(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
        subresource: &str,
        edit: impl Fn(&mut Value),
    ) {
        self.with(plural, |resource| {
            let target = Target { resource, namespace, name, subresource };
            let change = |before: &Value| {
                let mut after = before.clone();
                edit(&mut after);
                Ok(after)
            };
            self.api.change(&target, &Write::by("tester"), change).unwrap();
        });
    }

    pub(crate) fn delete(&self, plural: &str, namespace: &str, name: &str, delete: Delete) {
        self.with(plural, |resource| {
            let target = Target { resource, namespace, name, subresource: "" };
            self.api.delete(&target, &delete, &Write::by("tester")).unwrap();
        });
    }

    /// The reasons of all events, sorted.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let events = self.with("events", |resource| self.api.list(resource, ""));
        let mut reasons: Vec<String> =
            events.iter().map(|event| event.value()["reason"].as_str().unwrap().to_owned()).collect();
        reasons.sort();
        reasons
    }
}
