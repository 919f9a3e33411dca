//! Which request goes to which room.

use std::collections::BTreeMap;

use crate::call::{Answered, Call, Wrong};
use crate::project::Project;

/// What the real API has below its root, and this mock has nothing of.
const ABSENT: [&str; 3] = ["storage_box_types", "storage_boxes", "zones"];

/// What answers a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    /// Changes nothing.
    Look(fn(&Project, &Call<'_>) -> Answered),
    Change(fn(&mut Project, &Call<'_>) -> Answered),
    /// The real API has it, this mock has not.
    Absent,
}

/// One method of one path. Segments in braces stand for ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) run: Run,
}

pub(crate) const fn look(path: &'static str, run: fn(&Project, &Call<'_>) -> Answered) -> Route {
    Route { method: "GET", path, run: Run::Look(run) }
}

pub(crate) const fn change(
    method: &'static str,
    path: &'static str,
    run: fn(&mut Project, &Call<'_>) -> Answered,
) -> Route {
    Route { method, path, run: Run::Change(run) }
}

/// A route that the real API has and this mock has not.
pub(crate) const fn absent(method: &'static str, path: &'static str) -> Route {
    Route { method, path, run: Run::Absent }
}

/// All routes, by path.
#[derive(Debug, Default)]
pub(crate) struct Routes(BTreeMap<String, Vec<Route>>);

/// The route that a request takes.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) run: Run,
    pub(crate) ids: Vec<u64>,
}

impl Routes {
    pub(crate) fn new(all: impl IntoIterator<Item = Route>) -> Self {
        let mut routes = BTreeMap::<String, Vec<Route>>::new();
        for route in all {
            let blank = |segment: &'static str| if segment.starts_with('{') { "{}" } else { segment };
            let pattern: Vec<&str> = route.path.split('/').map(blank).collect();
            routes.entry(pattern.join("/")).or_default().push(route);
        }
        Self(routes)
    }

    /// Finds the room, or says why there is none. Segments of digits are ids; one that no id can be is an id of
    /// nothing.
    pub(crate) fn find(&self, method: &str, path: &str) -> Result<Step, Wrong> {
        let mut ids = Vec::new();
        let pattern: Vec<&str> = path
            .split('/')
            .map(|segment| {
                if segment.is_empty() || !segment.bytes().all(|byte| byte.is_ascii_digit()) {
                    return segment;
                }
                ids.push(segment.parse().unwrap_or(0));
                "{}"
            })
            .collect();
        let Some(here) = self.0.get(&pattern.join("/")) else {
            let root = path.split('/').nth(1).unwrap_or_default();
            let known = ABSENT.contains(&root);
            return Err(if known { Wrong::not_simulated(method, path) } else { Wrong::no_such_path() });
        };
        match here.iter().find(|route| route.method == method) {
            Some(route) => Ok(Step { run: route.run, ids }),
            None => Err(Wrong::method_not_allowed(method, path)),
        }
    }
}
