//! The kubeconfig as a file: for its owner's eyes, and whole at every moment.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Where it goes if nobody says where: one file a port, so that two servers do not share one.
pub(crate) fn default_place(address: SocketAddr) -> PathBuf {
    std::env::temp_dir().join(format!("mock-kubernetes-{}.kubeconfig", address.port()))
}

/// Writes beside the place and moves it there, so that nobody ever reads half of it.
pub(crate) fn write(place: &Path, text: &str) -> io::Result<()> {
    let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut draft = OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}", std::process::id()));
    let draft = place.with_file_name(draft);
    let written = write_new(&draft, text).and_then(|()| fs::rename(&draft, place));
    if written.is_err() {
        // It may not even have come into being.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write_new(place: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(place)?;
    file.write_all(text.as_bytes())
}
