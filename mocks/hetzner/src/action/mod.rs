//! Work that takes time: begun by a request, shown while it runs, ended by the timeline with what it brings about.
//!
//! Nothing here knows what a command means; that is its [`Effect`], which each room settles for itself.

mod effect;
mod room;

pub(crate) use effect::Effect;
pub(crate) use room::{ROUTES, action_routes, of, one_of};

use std::collections::{BTreeMap, BTreeSet};

use mock_clock::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::show::moment;
use crate::call::{Answer, Wrong};
use crate::project::{Happening, Project};
use crate::resource::Kind;

/// How an action ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    Success,
    Error { code: String, message: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Action {
    pub(crate) id: u64,
    pub(crate) command: String,
    pub(crate) started: Time,
    pub(crate) finished: Option<Time>,
    /// What it concerns. The first is held as long as it runs, unless it holds nothing.
    pub(crate) resources: Vec<(Kind, u64)>,
    pub(crate) holds: bool,
    /// How it ended, or will.
    pub(crate) ending: Ending,
    pub(crate) effect: Effect,
}

/// All actions there ever were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Action>", into = "Vec<Action>")]
pub(crate) struct Actions {
    all: BTreeMap<u64, Action>,
    /// Which running actions hold a thing.
    held: BTreeMap<(Kind, u64), BTreeSet<u64>>,
}

/// An action that is about to begin.
#[derive(Debug)]
pub(crate) struct Undertaking {
    command: &'static str,
    resources: Vec<(Kind, u64)>,
    holds: bool,
    after: Time,
    effect: Effect,
}

/// An action that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub(crate) id: u64,
    /// When it will end, which may be never.
    pub(crate) ends: Time,
}

impl Undertaking {
    /// Work on a thing, which nobody else may touch meanwhile.
    pub(crate) fn on(command: &'static str, kind: Kind, id: u64) -> Self {
        Self {
            command,
            resources: vec![(kind, id)],
            holds: true,
            after: Time::EPOCH,
            effect: Effect::Nothing,
        }
    }

    /// Concerns this, too.
    pub(crate) fn with(mut self, kind: Kind, id: u64) -> Self {
        self.resources.push((kind, id));
        self
    }

    /// Others may work on the same thing at the same time.
    pub(crate) fn shared(mut self) -> Self {
        self.holds = false;
        self
    }

    /// The work itself begins at this moment at the earliest, though the action is shown as running before.
    pub(crate) fn after(mut self, moment: Time) -> Self {
        self.after = moment;
        self
    }

    pub(crate) fn effect(mut self, effect: impl Into<Effect>) -> Self {
        self.effect = effect.into();
        self
    }
}

impl Actions {
    pub(crate) fn get(&self, id: u64) -> Result<&Action, Wrong> {
        self.find(id).ok_or_else(|| Wrong::not_found(Kind::Action.word(), id))
    }

    pub(crate) fn find(&self, id: u64) -> Option<&Action> {
        self.all.get(&id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Action> {
        self.all.values()
    }

    /// Whether somebody works on it now.
    pub(crate) fn hold(&self, kind: Kind, id: u64) -> bool {
        self.held.contains_key(&(kind, id))
    }

    fn put(&mut self, action: Action) {
        if let Some(held) = action.held() {
            self.held.entry(held).or_default().insert(action.id);
        }
        self.all.insert(action.id, action);
    }

    fn next_id(&self) -> u64 {
        self.all.last_key_value().map_or(Kind::Action.first_id(), |(id, _)| id + 1)
    }

    /// Notes the end, and gives what it brings about.
    fn end(&mut self, id: u64, now: Time) -> Option<(Effect, Ending)> {
        // One that was ended early is not ended again.
        let action = self.all.get_mut(&id).filter(|action| action.finished.is_none())?;
        if let Some(held) = action.held() {
            let running = self.held.entry(held).or_default();
            running.remove(&id);
            if running.is_empty() {
                self.held.remove(&held);
            }
        }
        action.finished = Some(now);
        Some((std::mem::take(&mut action.effect), action.ending.clone()))
    }
}

impl From<Vec<Action>> for Actions {
    fn from(all: Vec<Action>) -> Self {
        let mut actions = Self::default();
        for action in all {
            actions.put(action);
        }
        actions
    }
}

impl From<Actions> for Vec<Action> {
    fn from(actions: Actions) -> Self {
        actions.all.into_values().collect()
    }
}

impl Action {
    /// What it holds at the moment.
    fn held(&self) -> Option<(Kind, u64)> {
        self.resources.first().copied().filter(|_| self.holds && self.finished.is_none())
    }

    pub(crate) fn concerns(&self, kind: Kind, id: u64) -> bool {
        self.resources.contains(&(kind, id))
    }

    /// The word of the wire.
    pub(crate) fn status(&self) -> &'static str {
        match (&self.finished, &self.ending) {
            (None, _) => "running",
            (Some(_), Ending::Success) => "success",
            (Some(_), Ending::Error { .. }) => "error",
        }
    }

    pub(crate) fn show(&self) -> Value {
        let error = match &self.ending {
            Ending::Error { code, message } if self.finished.is_some() => {
                json!({"code": code, "message": message})
            }
            _ => Value::Null,
        };
        let resources: Vec<Value> =
            self.resources.iter().map(|(kind, id)| json!({"id": id, "type": kind.word()})).collect();
        json!({
            "id": self.id,
            "command": self.command,
            "status": self.status(),
            "progress": if self.finished.is_some() { 100 } else { 0 },
            "started": moment(self.started),
            "finished": self.finished.map(moment),
            "resources": resources,
            "error": error,
        })
    }
}

impl Project {
    /// Begins an action. How long it takes is drawn; a trouble may make it slow, endless or fail.
    pub(crate) fn begin(&mut self, now: Time, undertaking: Undertaking) -> Begun {
        let Undertaking { command, resources, holds, after, effect } = undertaking;
        let fate = self.fate(now, command, &resources);
        let id = self.actions.next_id();
        let usual = now.max(after) + fate.lasts;
        let ends = if fate.stuck.is_some() { Time::NEVER } else { usual };
        self.timeline.plan(ends, Happening::ActionEnds(id));
        self.actions.put(Action {
            id,
            command: command.to_owned(),
            started: now,
            finished: None,
            resources,
            holds,
            ending: fate.ending.clone(),
            effect,
        });
        if ends == Time::NEVER {
            self.never_ends(id, &fate, usual);
        }
        Begun { id, ends }
    }

    /// Begins an action, and answers with it.
    pub(crate) fn undertake(&mut self, now: Time, undertaking: Undertaking) -> Answer {
        let begun = self.begin(now, undertaking);
        self.answer(begun)
    }

    /// Begins an action, and answers with it and with these fields.
    pub(crate) fn undertake_with<const N: usize>(
        &mut self,
        now: Time,
        undertaking: Undertaking,
        more: [(&str, Value); N],
    ) -> Answer {
        let begun = self.begin(now, undertaking);
        let mut answer = json!({"action": self.action(begun)});
        for (field, value) in more {
            answer[field] = value;
        }
        Answer::created(answer)
    }

    /// Answers with an action that has begun.
    pub(crate) fn answer(&self, begun: Begun) -> Answer {
        Answer::created(json!({"action": self.action(begun)}))
    }

    /// The action as it is shown.
    pub(crate) fn action(&self, begun: Begun) -> Value {
        self.actions.find(begun.id).map_or(Value::Null, Action::show)
    }

    /// Refuses as long as somebody works on it.
    pub(crate) fn unlocked(&self, kind: Kind, id: u64) -> Result<(), Wrong> {
        if self.actions.hold(kind, id) { Err(Wrong::locked(kind.word())) } else { Ok(()) }
    }

    /// The end of an action has come.
    pub(crate) fn end_action(&mut self, now: Time, id: u64) {
        if let Some((effect, ending)) = self.actions.end(id, now) {
            effect.settle(self, now, ending == Ending::Success);
        }
    }
}
