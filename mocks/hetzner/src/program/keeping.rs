//! The state as a file: read at the start, written whenever something has changed, whole at every moment.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use mock_clock::Clock as _;
use mock_hetzner::{Cloud, Snapshot};
use tokio::sync::watch;

/// Where a state is kept. As long as this is there, no other program can keep its own there.
pub(crate) struct Keeping {
    place: PathBuf,
    /// The file as it is there now, locked.
    held: Option<File>,
}

impl Keeping {
    /// What a file holds; nothing if it is not there yet.
    pub(crate) fn open(place: &Path) -> Result<(Self, Option<Snapshot>), String> {
        let fail = |e: &dyn fmt::Display| format!("read {}: {e}", place.display());
        let place = place.to_owned();
        match fs::metadata(&place) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((Self { place, held: None }, None)),
            Ok(there) if !there.is_file() => return Err(fail(&"it is no file")),
            _ => {}
        }
        let mut file = File::open(&place).map_err(|e| fail(&e))?;
        // Not every file system has locks.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(fail(&"another program keeps its state there"));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|e| fail(&e))?;
        let snapshot = Snapshot::parse(&text).map_err(|e| format!("{e} (in {})", place.display()))?;
        Ok((Self { place, held: Some(file) }, Some(snapshot)))
    }

    /// Writes the state down after every change. While much changes it rests as long as it writes.
    pub(crate) async fn keep(&mut self, cloud: &Cloud, mut changes: watch::Receiver<u64>) {
        while changes.changed().await.is_ok() {
            let begun = cloud.clock().now();
            if let Err(e) = self.write(cloud) {
                tracing::error!("failed to write the state to {}: {e}", self.place.display());
            }
            cloud.clock().sleep(cloud.clock().now() - begun).await;
        }
    }

    /// Writes beside the place and moves it there, so that nobody ever reads half of it.
    pub(crate) fn write(&mut self, cloud: &Cloud) -> io::Result<()> {
        let text = cloud.with(|engine, now| engine.snapshot(now)).to_string();
        let name = self.place.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut draft = OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}", std::process::id()));
        let draft = self.place.with_file_name(draft);
        let moved = |file: File| fs::rename(&draft, &self.place).map(|()| file);
        let written = write_new(&draft, &text).and_then(moved);
        if written.is_err() {
            // It may not even have come into being.
            let _ = fs::remove_file(&draft);
        }
        self.held = Some(written?);
        Ok(())
    }
}

/// Only its owner may read it: the API shows what it holds to no one without a token.
fn write_new(place: &Path, text: &str) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(place)?;
    // It is locked when it gets to its place.
    let _ = file.try_lock();
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(file)
}
