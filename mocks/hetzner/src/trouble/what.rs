//! What can go wrong on purpose: the values that a scenario or an administrator writes.
//!
//! They say what is wanted and do nothing; how they are read and checked is next door, and so is what they do.

use std::fmt;

use mock_clock::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource::server::Status;
use crate::trouble::target::{Calls, Things};

/// Something that goes wrong: what, when, and how often.
///
/// As JSON it is one object, whose `kind` says what goes wrong, such as
/// `{"kind": "sold_out", "location": "fsn1", "for_s": 120, "per_cent": 50}`.
///
/// ```
/// use mock_hetzner::{Trouble, What};
///
/// let trouble: Trouble = r#"{"kind": "stuck", "command": "start_server", "count": 2}"#.parse()?;
/// assert!(matches!(trouble.what, What::Stuck { .. }) && trouble.count == Some(2));
/// # Ok::<(), mock_hetzner::TroubleError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// What goes wrong.
    pub what: What,
    /// From this moment on; otherwise at once.
    pub from: Option<Time>,
    /// Up to this moment; otherwise until it is healed.
    pub until: Option<Time>,
    /// For so many seconds, instead of `until`.
    pub for_s: Option<u64>,
    /// It bites at most so often.
    pub count: Option<u32>,
    /// It bites in so many of a million cases; otherwise in all. In JSON this is `per_cent`.
    pub per_million: Option<u32>,
}

/// What goes wrong. Where something says which it concerns, leaving that out means all.
///
/// Names, paths and commands are patterns, in which `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// No server of this type can be had in this location. Without a type, the location is closed.
    SoldOut {
        /// Of this type.
        server_type: Option<String>,
        /// In this location.
        location: Option<String>,
        /// What is answered.
        #[serde(default)]
        refused_as: Shortage,
        /// With these words instead of the usual ones.
        message: Option<String>,
    },
    /// The project may have less than before.
    Quota {
        /// So many servers.
        servers: Option<u64>,
        /// So many cores in all.
        cores: Option<u64>,
        /// So many primary IPs.
        primary_ips: Option<u64>,
    },
    /// No public address is left.
    NoAddresses {
        /// In this location.
        location: Option<String>,
    },
    /// There is no room for a volume.
    NoVolumeSpace {
        /// In this location.
        location: Option<String>,
    },
    /// A server type can no longer be had: it leaves the list, and orders are refused. Servers that have it stay.
    Retired {
        /// This type, by its name.
        server_type: String,
    },
    /// An image is no longer there.
    Vanished {
        /// This image, by its name or its id.
        image: String,
    },
    /// Work takes longer than usual.
    Slow {
        /// Work of this command.
        command: Option<String>,
        /// On these things.
        #[serde(default)]
        of: Things,
        /// So many times as long.
        times: Option<u32>,
        /// Longer by so many seconds.
        by_s: Option<u64>,
    },
    /// Work never ends. What is stuck goes on when the trouble is healed or its time is over.
    Stuck {
        /// Work of this command.
        command: Option<String>,
        /// On these things.
        #[serde(default)]
        of: Things,
    },
    /// Work ends with an error, and does not bring about what it should.
    Fails {
        /// Work of this command.
        command: Option<String>,
        /// On these things.
        #[serde(default)]
        of: Things,
        /// The code of the error; `unknown_error` if left out.
        code: Option<String>,
        /// Its message.
        message: Option<String>,
    },
    /// A server that gets into a status stays in it. When this is healed, it becomes what it should be by then.
    StatusStuck {
        /// This status.
        status: Status,
        /// These servers.
        #[serde(default)]
        of: Things,
    },
    /// The time of creation that servers show is wrong.
    ClockSkew {
        /// By so many seconds, late or (below zero) early.
        by_s: i64,
        /// These servers.
        #[serde(default)]
        of: Things,
    },
    /// Calls are answered with an error.
    Error {
        /// These calls.
        #[serde(default)]
        on: Calls,
        /// Whether the call does something nevertheless.
        #[serde(default)]
        when: When,
        /// The code of the error.
        code: String,
        /// The status, if it is not the usual one of the code.
        status: Option<u16>,
        /// The message.
        message: Option<String>,
        /// The body is a page for people, as gateways send it.
        #[serde(default)]
        html: bool,
    },
    /// The token is not known any more.
    TokenRejected {
        /// For clients whose user agent is like this.
        agent: Option<String>,
    },
    /// The token may only look.
    TokenReadOnly {
        /// For clients whose user agent is like this.
        agent: Option<String>,
    },
    /// Nothing can be changed.
    Maintenance {
        /// The message.
        message: Option<String>,
    },
    /// Fewer requests are let through.
    RateLimit {
        /// So many an hour.
        per_hour: Option<u64>,
        /// Others, with the same project, send so many a second.
        others_per_s: Option<u32>,
        /// Whether all of the hour's requests are spent.
        spent: Option<Spent>,
    },
    /// A server that was just created is missing from lists.
    Unseen {
        /// These servers.
        #[serde(default)]
        of: Things,
        /// For so many seconds.
        lag_s: Option<u64>,
        /// From the first so many lists that it should be in.
        reads: Option<u32>,
    },
    /// A server that was just deleted is still in lists.
    Lingering {
        /// These servers.
        #[serde(default)]
        of: Things,
        /// For so many seconds.
        lag_s: Option<u64>,
        /// In the first so many lists that it should no longer be in.
        reads: Option<u32>,
        /// With this status instead of the one that it had; then it can be asked for by its id, too.
        status: Option<Status>,
    },
    /// A deleted server still counts as a member of its placement group.
    LateRelease {
        /// For so many seconds.
        lag_s: u64,
        /// These servers.
        #[serde(default)]
        of: Things,
    },
    /// A list is told wrong.
    TornList {
        /// In answers to these calls.
        #[serde(default)]
        on: Calls,
        /// How.
        tear: Tear,
    },
}

/// How a shortage is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shortage {
    /// 412, which may pass.
    #[default]
    ResourceUnavailable,
    /// 422, as if the type were not sold there at all.
    InvalidInput,
    /// 422, as if the placement were at fault.
    PlacementError,
}

/// When a call is answered with an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Before it has done anything.
    #[default]
    Instead,
    /// After it has done everything: only the answer is lost.
    After,
}

/// How the requests of an hour are spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    /// Once, when the trouble begins; they grow back.
    Once,
    /// Again and again: nothing comes through.
    Always,
}

/// How a list is told wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tear {
    /// The page is empty.
    EmptyPage,
    /// The last of the page is missing.
    MissingItem,
    /// The first of the page is there twice.
    RepeatedItem,
    /// It says that there is no page after this one.
    NoNextPage,
}

/// The number of a trouble. None is given out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TroubleId(pub u64);

impl fmt::Display for TroubleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Trouble {
    /// At once, always, until it is healed.
    pub fn new(what: What) -> Self {
        Self { what, from: None, until: None, for_s: None, count: None, per_million: None }
    }

    /// From this moment on.
    #[must_use]
    pub fn from(mut self, from: Time) -> Self {
        self.from = Some(from);
        self
    }

    /// Up to this moment.
    #[must_use]
    pub fn until(mut self, until: Time) -> Self {
        self.until = Some(until);
        self
    }

    /// At most so often.
    #[must_use]
    pub fn count(mut self, count: u32) -> Self {
        self.count = Some(count);
        self
    }

    /// In so many of a million cases.
    #[must_use]
    pub fn per_million(mut self, share: u32) -> Self {
        self.per_million = Some(share);
        self
    }
}
