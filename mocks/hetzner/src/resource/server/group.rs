//! A server's place in a group whose members shall not share a host.

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::server::{Effect, stopped, work};
use crate::resource::{Kind, placement_group};

/// The place is taken at once, so that nobody else gets it; the server shows its group when it has moved.
pub(super) fn join(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, group) = work::asked(project, call, |body| body.required("placement_group", Body::id))?;
    project.placement_groups.get(group)?;
    let server = project.servers.get(id)?;
    if server.placement_group.is_some() {
        return Err(Wrong::new("already_in_placement_group", "server is already in a placement group"));
    }
    stopped(server)?;
    placement_group::has_room(project, group)?;
    if let Some(group) = project.placement_groups.find_mut(group) {
        group.members.insert(id);
    }
    let effect = Effect::Grouped { server: id, group };
    let undertaking = Undertaking::on("add_to_placement_group", Kind::Server, id);
    Ok(project.undertake(call.now, undertaking.with(Kind::PlacementGroup, group).effect(effect)))
}

/// It has moved, if its group is still there and it still exists; its place is free if it could not.
pub(super) fn joined(project: &mut Project, id: u64, group: u64, success: bool) {
    let Some(server) = project.servers.find_mut(id).filter(|_| success) else {
        return placement_group::leave(project, id);
    };
    server.placement_group = project.placement_groups.find(group).map(|group| group.head.id);
}

pub(super) fn leave(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = work::ready(project, call)?;
    let Some(group) = project.servers.get(id)?.placement_group else {
        return Err(Wrong::new("invalid_input", "server is not in a placement group"));
    };
    let undertaking = Undertaking::on("remove_from_placement_group", Kind::Server, id);
    let undertaking = undertaking.with(Kind::PlacementGroup, group).effect(Effect::Ungrouped { server: id });
    Ok(project.undertake(call.now, undertaking))
}

pub(super) fn left(project: &mut Project, id: u64) {
    placement_group::leave(project, id);
    if let Some(server) = project.servers.find_mut(id) {
        server.placement_group = None;
    }
}
