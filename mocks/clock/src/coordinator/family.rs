//! Children: a forked process shares its parent's clock, and nobody says so.
//!
//! Only a process that has run can have started another; so the children of one that has slept since need not be
//! listed. One whose parent has ended is found by what it publishes, once it waits.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::threads::unless_gone;

/// The children of a process, also those that have ended and were not waited for.
pub(super) fn children(pid: u32) -> io::Result<BTreeSet<u32>> {
    if Path::new("/proc/thread-self/children").exists() { listed(pid) } else { searched(pid) }
}

/// As the kernel lists them, by the thread that has started them.
fn listed(pid: u32) -> io::Result<BTreeSet<u32>> {
    let mut children = BTreeSet::new();
    let Some(threads) = unless_gone(std::fs::read_dir(format!("/proc/{pid}/task")))? else {
        return Ok(children);
    };
    for thread in threads {
        let Some(thread) = unless_gone(thread)? else { continue };
        let list = unless_gone(std::fs::read_to_string(thread.path().join("children")))?;
        let list = list.unwrap_or_default();
        children.extend(list.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    Ok(children)
}

/// For kernels that do not list them: every process tells its parent.
fn searched(pid: u32) -> io::Result<BTreeSet<u32>> {
    let mut children = BTreeSet::new();
    for process in std::fs::read_dir("/proc")? {
        let Some(process) = unless_gone(process)? else { continue };
        let Some(child) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Some(stat) = unless_gone(std::fs::read(process.path().join("stat")))? else { continue };
        if parent(&String::from_utf8_lossy(&stat)) == Some(pid) {
            children.insert(child);
        }
    }
    Ok(children)
}

/// `pid (name) state parent …`, and the name may hold anything.
fn parent(stat: &str) -> Option<u32> {
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_in_either_way() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let (me, both) = (std::process::id(), [listed, searched]);
        let found = both.map(|find| find(me).unwrap().contains(&child.id()));
        let none = both.map(|find| find(child.id()).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = both.map(|find| find(child.id()).unwrap());
        assert_eq!(found, [true; 2]);
        assert_eq!([none, gone], [[const { BTreeSet::new() }; 2], [const { BTreeSet::new() }; 2]]);
    }
}
