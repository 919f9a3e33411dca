//! Images made of servers, from the request to the moment when the last bit is written.

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::call::show::{gb, moment};
use crate::call::{Call, Wrong};
use crate::project::{Project, quota};
use crate::resource::Kind;
use crate::resource::image::{Image, ImageKind, Source};
use crate::resource::shelf::Labels;

/// How many backups a server has at most; one more takes the place of the oldest.
const BACKUPS: usize = 7;

/// How images change by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It can be booted from; or it goes, if the action fails.
    Written { image: u64 },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, now: Time, success: bool) {
        let Self::Written { image: id } = self;
        if !success {
            lose(project, now, id);
            return;
        }
        // Of a server with little on its disk.
        let hundredths = u32::try_from(100 + project.chance.draw() % 300).unwrap_or(100);
        let Some(image) = project.images.find_mut(id) else { return };
        image.available = true;
        image.size_hundredths = Some(hundredths);
        let server = image.bound_to;
        project.repriced(now, Kind::Image, id);
        if let Some(server) = server {
            rotate(project, now, server);
        }
    }
}

/// Begins to write an image of a server. It cannot be booted from yet.
pub(crate) fn of_server(
    project: &mut Project,
    call: &Call<'_>,
    server: u64,
    kind: ImageKind,
    description: Option<String>,
    labels: Labels,
) -> Result<u64, Wrong> {
    if kind == ImageKind::Snapshot {
        quota::snapshots(project)?;
    }
    let server = project.servers.get(server)?;
    let server_type = project.catalogue.server_type(&server.server_type);
    let gone = || Wrong::new("service_error", "the server type is no longer known");
    let architecture = server_type.ok_or_else(gone)?.architecture;
    let under = server.image.and_then(|image| project.images.find(image));
    let os_flavor = under.map_or_else(|| "unknown".to_owned(), |under| under.os_flavor.clone());
    let os_version = under.and_then(|under| under.os_version.clone());
    let image = Image {
        head: project.images.head(call.now, String::new(), labels),
        kind,
        description: description.unwrap_or_else(|| format!("{} {}", server.head.name, moment(call.now))),
        available: false,
        size_hundredths: None,
        disk_gb: gb(server.disk_gb),
        created_from: Some(Source { id: server.head.id, name: server.head.name.clone() }),
        bound_to: (kind == ImageKind::Backup).then_some(server.head.id),
        os_flavor,
        os_version,
        architecture,
        rapid_deploy: false,
        deprecation: None,
    };
    let id = project.images.put(image);
    project.opened(call, Kind::Image, id);
    Ok(id)
}

/// A server goes, or wants no backups any more: its backups go.
pub(crate) fn forget(project: &mut Project, call: &Call<'_>, server: u64) {
    for id in backups(project, server) {
        project.closed(call, Kind::Image, id);
        take(project, id);
    }
}

/// The backups of a server, oldest first.
fn backups(project: &Project, server: u64) -> Vec<u64> {
    let all = project.images.all().filter(|image| image.bound_to == Some(server));
    all.map(|image| image.head.id).collect()
}

/// Makes room for the newest backup of a server.
fn rotate(project: &mut Project, now: Time, server: u64) {
    let all = backups(project, server);
    for id in all.iter().take(all.len().saturating_sub(BACKUPS)) {
        lose(project, now, *id);
    }
}

/// An image goes by itself.
fn lose(project: &mut Project, now: Time, id: u64) {
    project.vanished(now, Kind::Image, id);
    take(project, id);
}

/// Takes an image away. Servers that were made from it no longer know what from.
pub(super) fn take(project: &mut Project, id: u64) {
    project.images.take(id);
    for server in project.servers.all_mut().filter(|server| server.image == Some(id)) {
        server.image = None;
    }
}
