//! Whether this machine lets foreign programs be brought onto a clock: by doing it.

use std::io;
use std::process::{Command, Stdio};

use super::error::{SpawnError, Unsupported};
use crate::mode::Mode;
use crate::rate::Rate;
use crate::virtual_clock::VirtualClock;

/// The first kernel with every call that the injected code makes: `futex` learned to lock by monotonic time.
const KERNEL_LEAST: (u32, u32) = (5, 14);

/// Whether foreign programs can be brought onto a clock on this machine; if not, why not.
///
/// It starts a program that does nothing, and takes some milliseconds.
///
/// ```
/// if let Err(why) = mock_clock::probe() {
///     println!("only real time here: {why}");
/// }
/// ```
pub fn probe() -> Result<(), Unsupported> {
    check_kernel(rustix::system::uname().release().to_string_lossy().as_ref())?;
    let clock =
        VirtualClock::start(Mode::Constant(Rate::ONE), None).map_err(|e| Unsupported::new(e.to_string()))?;
    let mut nothing = Command::new("/bin/true");
    nothing.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match clock.spawn(nothing) {
        Ok(mut child) => {
            let status = child.wait().map_err(|e| Unsupported::new(e.to_string()))?;
            if status.success() {
                return Ok(());
            }
            Err(Unsupported::new(format!("a program that does nothing failed on a clock of ours: {status}")))
        }
        // Nothing to try it with.
        Err(SpawnError::Program { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(SpawnError::Foreign { why, .. }) => Err(why),
        Err(e) => Err(Unsupported::new(e.to_string())),
    }
}

fn check_kernel(release: &str) -> Result<(), Unsupported> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) if (major, minor) < KERNEL_LEAST => Err(Unsupported::new(format!(
            "this kernel is Linux {release}, and it takes {}.{} or later",
            KERNEL_LEAST.0, KERNEL_LEAST.1
        ))),
        // One that does not tell is tried.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_kernels_are_named() {
        let told = check_kernel("5.10.0-30-amd64").unwrap_err().to_string();
        assert_eq!(told, "this kernel is Linux 5.10.0-30-amd64, and it takes 5.14 or later");
        for fine in ["5.14.0", "6.18.44-fc-v669", "10.0", "unknown"] {
            check_kernel(fine).unwrap();
        }
    }
}
