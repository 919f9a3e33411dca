//! Host names: each replica its own, for autoscalers know each other by it. cluster-autoscaler holds its lease under the
//! bare host name, so that two on one host both take themselves for the leader.
//!
//! A host name belongs to a namespace of the kernel. Root may make one; who is not root may only in a user namespace,
//! where he is root. A user namespace of the subject alone would hide the clock from it, so this whole process goes.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::system::sethostname;
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Whether this process can give host names to what it starts. It tries, in a thread, which takes the name along.
pub fn can_be_given() -> bool {
    std::thread::spawn(|| leave(UnshareFlags::NEWUTS)).join().is_ok_and(|done| done.is_ok())
}

/// Makes this process one that can, if the system lets it: call it before the first thread is started.
pub fn ask_for() -> bool {
    can_be_given() || (tried() && become_root_of_our_own().is_ok() && can_be_given())
}

/// The host name of this machine.
pub(super) fn of_machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Has a command run under a host name of its own.
pub(super) fn give(command: &mut Command, name: &str) {
    let name = name.as_bytes().to_owned();
    before(command, move || {
        leave(UnshareFlags::NEWUTS)?;
        Ok(sethostname(&name)?)
    });
}

/// Whether a child could become root of its own: there is no way back, so this process does not try.
fn tried() -> bool {
    const IT_CAN: Errno = Errno::CANCELED;
    let mut nothing = Command::new("/proc/self/exe");
    before(&mut nothing, || {
        become_root_of_our_own()?;
        leave(UnshareFlags::NEWUTS)?;
        Err(IT_CAN.into())
    });
    nothing.spawn().is_err_and(|told| told.raw_os_error() == Some(IT_CAN.raw_os_error()))
}

/// A user namespace in which we are root, and nobody else is anybody.
fn become_root_of_our_own() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    leave(UnshareFlags::NEWUSER)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

#[expect(unsafe_code, reason = "some namespaces take safety with them")]
fn leave(what: UnshareFlags) -> io::Result<()> {
    // SAFETY: those of users and host names share no file and no memory.
    Ok(unsafe { unshare_unsafe(what) }?)
}

#[expect(unsafe_code, reason = "code between fork and exec must be declared safe there")]
fn before(command: &mut Command, what: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: it makes system calls, and takes memory only where this process has one thread.
    unsafe { command.pre_exec(what) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_its_own_host_name_where_that_can_be() {
        if !can_be_given() {
            eprintln!("SKIPPED: this takes root, or a user namespace");
            return;
        }
        let before = of_machine();
        let mut uname = Command::new("uname");
        give(uname.arg("-n"), "subject-7");
        let told = uname.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&told.stdout), "subject-7\n");
        assert_eq!(of_machine(), before, "and nobody else has it");
    }
}
