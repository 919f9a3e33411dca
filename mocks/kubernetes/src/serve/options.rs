//! The options of lists and watches, and which of them go together.

use serde_json::json;

use super::query::Query;
use crate::status::{Status, Wrong};

/// What a list or a watch was asked for, apart from the selection.
#[derive(Clone, Debug, Default)]
pub(super) struct ListOptions {
    /// `None` if it was not given; 0 is "any".
    pub(super) revision: Option<u64>,
    pub(super) matching: Matching,
    pub(super) limit: usize,
    pub(super) token: Option<String>,
    pub(super) bookmarks: bool,
    pub(super) initial_events: bool,
    pub(super) timeout_seconds: Option<u64>,
}

/// How the version of a list is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Matching {
    #[default]
    Unsaid,
    NotOlder,
    Exact,
}

const EXACT: &str = "Exact";
const NOT_OLDER: &str = "NotOlderThan";

impl ListOptions {
    pub(super) fn read(query: &Query, watch: bool) -> Result<Self, Status> {
        let version = query.text("resourceVersion");
        let matching = query.text("resourceVersionMatch");
        let token = query.text("continue").map(str::to_owned);
        let wrong = if watch {
            watch_mistakes(query.flag("sendInitialEvents"), matching, token.is_some())
        } else {
            list_mistakes(query.flag("sendInitialEvents"), version, matching, token.is_some())
        };
        if !wrong.is_empty() {
            return Err(Status::invalid("meta.k8s.io", "ListOptions", "", wrong));
        }
        let natural = |key| -> Result<Option<u64>, Status> {
            Ok(query.number(key)?.and_then(|n| u64::try_from(n).ok()))
        };
        Ok(Self {
            revision: version.map(|version| read_list_version(version, watch)).transpose()?,
            matching: match matching {
                None => Matching::Unsaid,
                Some(EXACT) => Matching::Exact,
                Some(_) => Matching::NotOlder,
            },
            limit: natural("limit")?.and_then(|limit| usize::try_from(limit).ok()).unwrap_or_default(),
            token,
            bookmarks: query.flag("allowWatchBookmarks").unwrap_or_default(),
            initial_events: query.flag("sendInitialEvents").unwrap_or_default(),
            timeout_seconds: natural("timeoutSeconds")?,
        })
    }
}

/// A resource version as a number. To clients it is opaque, so anything else was made up.
pub(super) fn read_version(text: &str) -> Result<u64, Wrong> {
    text.parse().map_err(|_| {
        let why = format!("strconv.ParseUint: parsing {text:?}: invalid syntax");
        Wrong::invalid("resourceVersion", &json!(text), &why)
    })
}

/// Lists tell of a version that is none more kindly than watches do.
fn read_list_version(text: &str, watch: bool) -> Result<u64, Status> {
    read_version(text).map_err(|wrong| {
        if watch {
            Status::plain(wrong.to_string())
        } else {
            Status::bad_request(format!("invalid resource version: {wrong}"))
        }
    })
}

fn list_mistakes(
    initial: Option<bool>,
    version: Option<&str>,
    matching: Option<&str>,
    token: bool,
) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if let Some(matching) = matching {
        let forbidden = |why: &str| Wrong::forbidden("resourceVersionMatch", why);
        if version.is_none() {
            wrong.push(forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"));
        }
        if token {
            wrong.push(forbidden("resourceVersionMatch is forbidden when continue is provided"));
        }
        if matching != EXACT && matching != NOT_OLDER {
            wrong.push(Wrong::not_supported(
                "resourceVersionMatch",
                &json!(matching),
                &[EXACT, NOT_OLDER, ""],
            ));
        }
        if matching == EXACT && version == Some("0") {
            wrong.push(forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
        }
    }
    if initial.is_some() {
        wrong.push(Wrong::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    wrong
}

fn watch_mistakes(initial: Option<bool>, matching: Option<&str>, token: bool) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let forbidden = |why: &str| Wrong::forbidden("resourceVersionMatch", why);
    if initial.is_some() && matching != Some(NOT_OLDER) {
        wrong.push(forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    }
    if let Some(matching) = matching {
        if initial.is_none() {
            wrong.push(forbidden(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if matching != NOT_OLDER {
            wrong.push(Wrong::not_supported("resourceVersionMatch", &json!(matching), &[NOT_OLDER]));
        }
    }
    if token {
        wrong.push(forbidden("resourceVersionMatch is forbidden when continue is provided"));
    }
    wrong
}
