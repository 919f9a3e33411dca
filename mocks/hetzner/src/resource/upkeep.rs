//! What everything lets be changed: its name, its labels, its protection against being deleted.

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::shelf::{Labels, Resource, Shelf};

/// Names beyond this are refused.
const LONGEST_NAME: usize = 255;

/// Reads a name as most things may have it: some text, not too long.
pub(crate) fn name(body: &mut Body, field: &str) -> Option<String> {
    let name = body.text(field)?;
    if name.trim().is_empty() {
        body.wrong(field, "Must not be empty.");
    } else if name.chars().count() > LONGEST_NAME {
        body.wrong(field, format!("Longer than maximum length {LONGEST_NAME}."));
    }
    Some(name)
}

/// Another name, and other labels.
pub(crate) struct Naming {
    name: Option<String>,
    labels: Option<Labels>,
}

/// Reads what a thing shall be called from now on.
pub(crate) fn naming(body: &mut Body, name: impl Fn(&mut Body, &str) -> Option<String>) -> Naming {
    Naming { name: name(body, "name"), labels: body.labels() }
}

/// Changes name and labels as the body says, which must say nothing else.
pub(crate) fn rename<T: Resource>(
    project: &mut Project,
    call: &Call<'_>,
    shelf: fn(&mut Project) -> &mut Shelf<T>,
    name: impl Fn(&mut Body, &str) -> Option<String>,
) -> Result<(), Wrong> {
    shelf(project).get(call.id())?;
    let naming = call.asked(|body| naming(body, name))?;
    set(project, call.id(), shelf, naming)
}

/// Sets a name, if it is free, and labels.
pub(crate) fn set<T: Resource>(
    project: &mut Project,
    id: u64,
    shelf: fn(&mut Project) -> &mut Shelf<T>,
    Naming { name, labels }: Naming,
) -> Result<(), Wrong> {
    if let Some(name) = &name {
        shelf(project).free_name(name, Some(id))?;
    }
    let head = shelf(project).get_mut(id)?.head_mut();
    head.name = name.unwrap_or_else(|| std::mem::take(&mut head.name));
    head.labels = labels.unwrap_or_else(|| std::mem::take(&mut head.labels));
    project.renamed(T::KIND, id);
    Ok(())
}

/// The route `change_protection` of things that know only one protection.
pub(crate) fn change_protection<T: Resource>(
    project: &mut Project,
    call: &Call<'_>,
    shelf: fn(&mut Project) -> &mut Shelf<T>,
) -> Answered {
    let head = shelf(project).get_mut(call.id())?.head_mut();
    let keep = call.asked(|body| {
        // hcloud-go 1 repeats the id of primary IPs.
        body.ignore("ID");
        body.flag("delete")
    })?;
    head.kept = keep.unwrap_or(head.kept);
    Ok(project.undertake(call.now, Undertaking::on("change_protection", T::KIND, call.id()).shared()))
}

/// Refuses to delete what is protected.
pub(crate) fn deletable<T: Resource>(thing: &T) -> Result<(), Wrong> {
    if thing.head().kept { Err(Wrong::protected(T::KIND.word(), "deletion")) } else { Ok(()) }
}
