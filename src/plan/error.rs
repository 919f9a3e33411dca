//! Why there is no plan for a scenario with this subject.

use std::fmt;

use crate::terms::{Period, Provider, SubjectOption, Timer, Version};

/// Why there is no plan. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The cloud knows no such machine.
    Machine {
        /// The pool that has them.
        pool: String,
        /// What it has.
        machine: String,
    },
    /// The scenario is about what this subject has nothing to do with.
    Provider {
        /// Its profile.
        profile: String,
        /// What it is about.
        what: &'static str,
        /// Who has to do with it.
        needs: Provider,
    },
    /// The scenario is about other subjects.
    Profile {
        /// Its profile.
        profile: String,
        /// Those that are meant.
        meant: String,
    },
    /// The subject cannot be asked for this.
    Option {
        /// Its profile.
        profile: String,
        /// What it would be asked for.
        option: SubjectOption,
    },
    /// The subject is too old to be asked for it.
    TooOld {
        /// Its profile.
        profile: String,
        /// What it would be asked for; reads after "failed to".
        what: String,
        /// Its version.
        version: Version,
        /// The first that knows it.
        since: Version,
    },
    /// The subject has no such timer.
    Timer {
        /// Its profile.
        profile: String,
        /// The timer.
        timer: Timer,
    },
    /// The subject has the timer, but cannot be told another one.
    SetTimer {
        /// Its profile.
        profile: String,
        /// The timer.
        timer: Timer,
        /// What it would be told.
        period: Period,
    },
    /// More is taken from a timer than it has.
    BelowZero {
        /// The timer.
        timer: Timer,
        /// What it is.
        period: Period,
    },
    /// The run could take longer than any should.
    TooLong(Period),
}

impl PlanError {
    /// Whether the scenario is well and merely not about this subject: then it is not run, and nothing is known.
    pub fn is_about_subject(&self) -> bool {
        matches!(
            self,
            PlanError::Provider { .. }
                | PlanError::Profile { .. }
                | PlanError::Option { .. }
                | PlanError::TooOld { .. }
                | PlanError::Timer { .. }
                | PlanError::SetTimer { .. }
        )
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Machine { pool, machine } => {
                write!(f, "plan pool {pool}: the cloud has no machine of type {machine}")
            }
            PlanError::Provider { profile, what, needs: Provider::Hetzner } => write!(
                f,
                "do something with {what}: only who buys servers there has to do with it, and {profile} does not"
            ),
            PlanError::Provider { profile, what, needs } => {
                write!(
                    f,
                    "do something with {what}: only the provider {needs} has to do with it, not {profile}"
                )
            }
            PlanError::Profile { profile, meant } => {
                write!(f, "tell {profile} what this scenario tells its subject: it is about {meant}")
            }
            PlanError::Option { profile, option } => {
                write!(f, "ask for {option}: profile {profile} does not say how; add it to its `options`")
            }
            PlanError::TooOld { profile, what, version, since } => {
                write!(f, "{what}: {profile} {version} does not know it, {since} does")
            }
            PlanError::Timer { profile, timer } => {
                write!(f, "wait for {timer}: profile {profile} has no such timer; add it to its `timers`")
            }
            PlanError::SetTimer { profile, timer, period } => write!(
                f,
                "set {timer} to {period}: profile {profile} does not say how; add it to its `timer_arguments`"
            ),
            PlanError::BelowZero { timer, period } => {
                write!(f, "plan a span that is below zero: {timer} is {period}, and more is taken from it")
            }
            PlanError::TooLong(longest) => write!(f, "plan a run that may take longer than {longest}"),
        }
    }
}

impl std::error::Error for PlanError {}
