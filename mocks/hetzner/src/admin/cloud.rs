//! The cloud as a whole: its state, its limit, a new beginning.

use serde::Deserialize;
use serde_json::json;

use crate::admin::Visit;
use crate::admin::said::{Refused, Said};
use crate::engine::Snapshot;

/// How many requests may come.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    per_hour: u64,
}

pub(super) fn limit(visit: &mut Visit<'_>) -> Said {
    let limit = &visit.engine.project.limit;
    Said::json(&json!({
        "per_hour": limit.per_hour(),
        "remaining": limit.remaining(visit.now),
        "full_at": limit.reset(visit.now),
    }))
}

pub(super) fn set_limit(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let Limit { per_hour } = visit.read("")?;
    visit.engine.limit_requests(visit.now, per_hour);
    Ok(limit(visit))
}

pub(super) fn state(visit: &mut Visit<'_>) -> Said {
    Said::written(visit.engine.snapshot(visit.now).to_string())
}

pub(super) fn load(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let snapshot = Snapshot::parse(visit.text()?).map_err(|error| Refused::bad(error.to_string()))?;
    let taken = snapshot.taken();
    visit.engine.replace(snapshot, visit.now).map_err(Refused::bad)?;
    Ok(Said::json(&json!({"loaded": taken})))
}

pub(super) fn reset(visit: &mut Visit<'_>) -> Said {
    visit.engine.reset(visit.now);
    Said::json(&json!({"reset": visit.now}))
}
