//! Troubles and deeds: what its owner does to a cloud.

use serde_json::json;

use crate::admin::Visit;
use crate::admin::said::{Refused, Said};
use crate::trouble::{Deed, Trouble, TroubleId};

pub(super) fn all(visit: &mut Visit<'_>) -> Said {
    Said::json(&json!({"troubles": visit.engine.troubles(visit.now)}))
}

pub(super) fn one(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    shown(visit, TroubleId(visit.id))
}

fn shown(visit: &Visit<'_>, id: TroubleId) -> Result<Said, Refused> {
    let all = visit.engine.troubles(visit.now);
    let found = all.iter().find(|report| report.id == id);
    found.map(Said::json).ok_or_else(|| Refused::not_found(format!("there is no trouble {id}")))
}

pub(super) fn inject(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let trouble: Trouble = visit.text()?.parse().map_err(|error| Refused::bad(format!("{error}")))?;
    let id = visit.engine.inject(visit.now, trouble).map_err(|error| Refused::bad(error.to_string()))?;
    Ok(shown(visit, id)?.status(201))
}

pub(super) fn heal(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let id = TroubleId(visit.id);
    shown(visit, id)?;
    if !visit.engine.heal(visit.now, id) {
        return Err(Refused::new(409, format!("trouble {id} is over already")));
    }
    shown(visit, id)
}

pub(super) fn heal_all(visit: &mut Visit<'_>) -> Said {
    Said::json(&json!({"healed": visit.engine.heal_all(visit.now)}))
}

pub(super) fn by_hand(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let deed: Deed = visit.read("deed")?;
    visit.engine.by_hand(visit.now, &deed).map_err(|error| Refused::new(409, error.to_string()))?;
    Ok(Said::json(&json!({"done": deed})))
}
