//! How a write is meant: by whom, for real or as a trial, how strictly, and what is to become of dependents.

use serde_json::Value;

use crate::status::{Status, Wrong};

/// What goes with every write.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The field manager.
    pub(crate) manager: String,
    /// Do everything but the last step.
    pub(crate) dry_run: bool,
    pub(crate) fields: Fields,
    /// The fields that the body has twice.
    pub(crate) doubles: Vec<String>,
    /// It is an apply: who manages what is already settled.
    pub(crate) applies: bool,
}

impl Write {
    /// A write of our own controllers.
    pub(crate) fn by(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            dry_run: false,
            fields: Fields::Ignore,
            doubles: Vec::new(),
            applies: false,
        }
    }
}

/// What to do about fields that nobody knows, or that come twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fields {
    Ignore,
    Warn,
    Strict,
}

/// How an object is to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delete {
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) preconditions: Preconditions,
    pub(crate) propagation: Option<Propagation>,
    /// Do everything but the last step.
    pub(crate) dry_run: bool,
}

/// What must be true of the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

/// What becomes of those whom the object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Orphan,
    Background,
    Foreground,
}

impl Delete {
    /// At once, whatever the grace period.
    pub(crate) fn now() -> Self {
        Self { grace_period_seconds: Some(0), ..Self::default() }
    }

    pub(crate) fn background() -> Self {
        Self { propagation: Some(Propagation::Background), ..Self::default() }
    }

    /// The object that is meant and no later one of its name.
    pub(crate) fn only(mut self, uid: &str) -> Self {
        self.preconditions.uid = Some(uid.to_owned());
        self
    }

    /// Reads `DeleteOptions`, and tells of all that is wrong with them.
    pub(crate) fn read(value: &Value) -> Result<Self, Status> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let preconditions = &value["preconditions"];
        let orphan = value["orphanDependents"].as_bool();
        let policy = value["propagationPolicy"].as_str();
        let mut wrong = Vec::new();
        if let (Some(policy), Some(_)) = (policy, orphan) {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            wrong.push(Wrong::invalid("propagationPolicy", &Value::from(policy), why));
        }
        let propagation = match (policy.map(Propagation::read), orphan) {
            (Some(Ok(propagation)), _) => Some(propagation),
            (Some(Err(unknown)), _) => {
                wrong.push(unknown);
                None
            }
            (None, Some(orphan)) => Some(if orphan { Propagation::Orphan } else { Propagation::Background }),
            (None, None) => None,
        };
        let stages: Vec<&str> =
            value["dryRun"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        wrong.extend(unknown_stages(&stages));
        if !wrong.is_empty() {
            return Err(Status::invalid_options("DeleteOptions", wrong));
        }
        Ok(Self {
            dry_run: !stages.is_empty(),
            grace_period_seconds: value["gracePeriodSeconds"].as_i64(),
            preconditions: Preconditions {
                uid: text(&preconditions["uid"]),
                resource_version: text(&preconditions["resourceVersion"]),
            },
            propagation,
        })
    }
}

impl Propagation {
    pub(crate) fn read(text: &str) -> Result<Self, Wrong> {
        match text {
            "Orphan" => Ok(Self::Orphan),
            "Background" => Ok(Self::Background),
            "Foreground" => Ok(Self::Foreground),
            other => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                Err(Wrong::not_supported("propagationPolicy", &Value::from(other), &supported))
            }
        }
    }
}

/// What is wrong with the stages of a dry run: only all of them can be left out.
pub(crate) fn unknown_stages(stages: &[&str]) -> Option<Wrong> {
    let known = stages.iter().all(|stage| *stage == "All");
    (!known).then(|| Wrong::not_supported("dryRun", &Value::from(stages.to_vec()), &["All"]))
}
