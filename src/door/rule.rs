//! Rules: who decides the fate of a call. They come and go by name while calls pass; the first that does not let a
//! call pass decides.
//!
//! A rule hurts nobody itself. What its fate does to a call is done where the call passes, and counted here.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::answer::Answer;
use super::call::{Call, CallMatch, Reply};

/// Decides the fate of calls.
pub trait Rule: Send + Sync {
    /// What is to happen to this one. Of a running watch it is asked when the rule is installed.
    fn fate(&self, call: &Call) -> Fate;

    /// It is over.
    fn after(&self, _call: &Call, _reply: &Reply) {}
}

impl<F: Fn(&Call) -> Fate + Send + Sync> Rule for F {
    fn fate(&self, call: &Call) -> Fate {
        self(call)
    }
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It passes.
    Pass,
    /// It is passed on only after so long.
    Delay(Duration),
    /// It is answered here.
    Answer(Answer),
    /// The connection is cut at once; of a multiplexed one, the stream.
    Cut,
    /// It is never answered; when that is healed, it is cut.
    Hang,
    /// It is done at once, and answered only after so long.
    DelayAnswer(Duration),
    /// It is done, and cut before the answer.
    LoseAnswer,
    /// It is done, and the answer cut after so many bytes.
    Truncate(u64),
    /// The answer comes so many bytes a second.
    SlowBody(u64),
    /// A watch stays open and tells nothing; when that is healed, it is cut.
    StallWatch,
    /// A watch is ended.
    DropWatch,
    /// A watch, or a list by revision, is told that its revision is too old: 410.
    Expire,
}

impl Fate {
    /// Whether it means anything to this call.
    fn suits(&self, call: &Call) -> bool {
        match self {
            Self::StallWatch | Self::DropWatch => call.watch,
            Self::Expire => call.running || call.names_revision(),
            _ => !call.running,
        }
    }
}

/// The rule that most faults are: these calls, this fate, perhaps only the first few.
#[derive(Debug)]
pub struct Injury {
    on: CallMatch,
    fate: Fate,
    left: Option<AtomicU32>,
}

impl Injury {
    /// All calls that `on` picks, or the `first` so many.
    pub fn new(on: CallMatch, fate: Fate, first: Option<u32>) -> Self {
        Self { on, fate, left: first.map(AtomicU32::new) }
    }
}

impl Rule for Injury {
    fn fate(&self, call: &Call) -> Fate {
        let picked = self.on.picks(call) && self.fate.suits(call);
        let one_less = |left: &AtomicU32| {
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        };
        if picked && self.left.as_ref().is_none_or(one_less) { self.fate.clone() } else { Fate::Pass }
    }
}

/// The rules of a door, in the order in which they were installed.
#[derive(Default)]
pub struct Rules {
    standing: Mutex<Arc<Vec<Arc<Standing>>>>,
    /// Counts those that were ever installed or removed.
    changes: watch::Sender<u64>,
}

/// A rule that is installed.
pub(super) struct Standing {
    number: u64,
    pub(super) name: String,
    rule: Box<dyn Rule>,
    bites: AtomicU64,
    first_bite: Mutex<Option<FirstBite>>,
}

/// Told the first call that a rule hurts.
type FirstBite = Box<dyn FnOnce(&Call) + Send>;

/// What was decided, and by whom.
pub(super) struct Decision {
    pub(super) fate: Fate,
    pub(super) by: Option<Arc<Standing>>,
}

impl Rules {
    /// Adds a rule after all others, or in the place of one of the same name. `first_bite` is told the first call that
    /// it hurts.
    pub fn install(
        &self,
        name: &str,
        rule: impl Rule + 'static,
        first_bite: impl FnOnce(&Call) + Send + 'static,
    ) {
        let mut standing = self.lock();
        let standing_now = Arc::make_mut(&mut standing);
        let place = standing_now.iter().position(|other| other.name == name);
        let rule = Arc::new(Standing {
            number: *self.changes.borrow() + 1,
            name: name.to_owned(),
            rule: Box::new(rule),
            bites: AtomicU64::new(0),
            first_bite: Mutex::new(Some(Box::new(first_bite))),
        });
        match place {
            Some(place) => standing_now[place] = rule,
            None => standing_now.push(rule),
        }
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Takes a rule away and tells how often it has hurt; nothing if there is none of this name.
    pub fn remove(&self, name: &str) -> Option<u64> {
        let mut standing = self.lock();
        let place = standing.iter().position(|rule| rule.name == name)?;
        let rule = Arc::make_mut(&mut standing).remove(place);
        self.changes.send_modify(|changes| *changes += 1);
        Some(rule.bites.load(Ordering::Relaxed))
    }

    /// How often a rule has hurt so far.
    pub fn bites(&self, name: &str) -> Option<u64> {
        let standing = self.lock();
        standing.iter().find(|rule| rule.name == name).map(|rule| rule.bites.load(Ordering::Relaxed))
    }

    /// The fate of a call, decided by rules that were installed after change number `since`.
    pub(super) fn decide(&self, call: &Call, since: u64) -> Decision {
        let standing = Arc::clone(&self.lock());
        for rule in standing.iter().filter(|rule| rule.number > since) {
            let fate = rule.rule.fate(call);
            if fate != Fate::Pass && fate.suits(call) {
                return Decision { fate, by: Some(Arc::clone(rule)) };
            }
        }
        Decision { fate: Fate::Pass, by: None }
    }

    /// Tells all rules what became of a call.
    pub(super) fn after(&self, call: &Call, reply: &Reply) {
        let standing = Arc::clone(&self.lock());
        standing.iter().for_each(|rule| rule.rule.after(call, reply));
    }

    /// The number of the last change, and of each that follows.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn stands(&self, rule: &Arc<Standing>) -> bool {
        self.lock().iter().any(|other| Arc::ptr_eq(other, rule))
    }

    /// Waits until a rule is gone.
    pub(super) async fn gone(&self, rule: &Arc<Standing>) {
        // Its sender lives as long as this does.
        let _ = self.changes().wait_for(|_| !self.stands(rule)).await;
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Vec<Arc<Standing>>>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lock().iter().map(|rule| rule.name.clone())).finish()
    }
}

impl Standing {
    /// It has hurt a call.
    pub(super) fn bit(&self, call: &Call) {
        self.bites.fetch_add(1, Ordering::Relaxed);
        let first = self.first_bite.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(first) = first {
            first(call);
        }
    }
}

impl Decision {
    /// Whoever decided has hurt the call.
    pub(super) fn bit(&self, call: &Call) {
        if let Some(rule) = &self.by {
            rule.bit(call);
        }
    }
}
