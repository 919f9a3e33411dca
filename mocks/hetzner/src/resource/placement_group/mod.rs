//! Groups of servers that shall not share a host: what one is, who is in it, how it looks on the wire.
//!
//! Hosts are not simulated, so a group is only a list of members with an end.

mod room;
#[cfg(test)]
mod tests;

pub(crate) use room::ROUTES;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::Wrong;
use crate::call::show::moment;
use crate::project::Project;
use crate::resource::shelf::{Head, resource};

/// How many servers a group can spread.
const MOST_MEMBERS: usize = 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlacementGroup {
    pub(crate) head: Head,
    pub(crate) members: BTreeSet<u64>,
}

resource!(PlacementGroup, PlacementGroup);

/// Refuses a group that is not there or has no room for one more.
pub(crate) fn has_room(project: &Project, id: u64) -> Result<(), Wrong> {
    let group = project.placement_groups.get(id)?;
    if group.members.len() < MOST_MEMBERS {
        return Ok(());
    }
    Err(Wrong::new(
        "placement_group_member_limit_reached",
        format!("placement group with ID {id} contains already {MOST_MEMBERS} servers"),
    ))
}

/// A server leaves the group that it was in.
pub(crate) fn leave(project: &mut Project, server: u64) {
    for group in project.placement_groups.all_mut() {
        group.members.remove(&server);
    }
}

/// A group as the API shows it.
pub(crate) fn show(group: &PlacementGroup) -> Value {
    json!({
        "id": group.head.id,
        "name": group.head.name,
        "labels": group.head.labels,
        "type": "spread",
        "created": moment(group.head.created),
        "servers": group.members,
    })
}
