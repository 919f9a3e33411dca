//! The state as a file: read at the start, written whenever something has changed, whole at every moment.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use mock_clock::Clock as _;
use mock_hetzner::{Cloud, Snapshot};

/// What a file holds; nothing if it is not there yet.
pub(crate) fn read(place: &Path) -> Result<Option<Snapshot>, String> {
    let text = match fs::read_to_string(place) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(format!("read {}: {e}", place.display())),
    };
    Snapshot::parse(&text).map(Some).map_err(|e| format!("{e} (in {})", place.display()))
}

/// Writes the state down after every change. While much changes it rests as long as it writes.
pub(crate) async fn keep(cloud: &Cloud, place: &Path) {
    let mut changes = cloud.changes();
    // Somebody may have been quicker than we are.
    changes.mark_changed();
    while changes.changed().await.is_ok() {
        let begun = cloud.clock().now();
        if let Err(e) = write(cloud, place) {
            tracing::error!("failed to write the state to {}: {e}", place.display());
        }
        cloud.clock().sleep(cloud.clock().now() - begun).await;
    }
}

/// Writes beside the place and moves it there, so that nobody ever reads half of it.
pub(crate) fn write(cloud: &Cloud, place: &Path) -> io::Result<()> {
    let text = cloud.with(|engine, now| engine.snapshot(now)).to_string();
    let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut draft = OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}", std::process::id()));
    let draft = place.with_file_name(draft);
    let written = write_new(&draft, &text).and_then(|()| fs::rename(&draft, place));
    if written.is_err() {
        // It may not even have come into being.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Only its owner may read it: it holds private keys of certificates.
fn write_new(place: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(place)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
