//! Children: a forked process shares its parent's clock, and nobody says so.
//!
//! Only a process that has run can have started another; so the children of one that has slept since need not be
//! listed. One whose parent has ended is found by what it publishes, once it waits.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::threads::unless_gone;

/// The children that one thread has started, from its list of them; also those that nobody has waited for.
pub(super) fn listed(list: &File) -> io::Result<BTreeSet<u32>> {
    let (mut text, mut bytes) = (Vec::new(), [0; 1024]);
    while let Some(length @ 1..) = unless_gone(list.read_at(&mut bytes, text.len() as u64))? {
        text.extend_from_slice(&bytes[..length]);
        if length < bytes.len() {
            break;
        }
    }
    let text = String::from_utf8_lossy(&text);
    Ok(text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect())
}

/// The children of a process, for kernels that do not list them: every process tells its parent.
pub(super) fn searched(pid: u32) -> io::Result<BTreeSet<u32>> {
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
    use std::process::Command;

    use super::*;

    #[test]
    fn children_are_found_in_either_way() {
        let list = File::open("/proc/thread-self/children").unwrap();
        // More than one reading holds.
        let mut children: Vec<_> =
            (0..200).map(|_| Command::new("sleep").arg("600").spawn().unwrap()).collect();
        let [first, last] = [0, 199].map(|n: usize| children[n].id());
        let found = [listed(&list).unwrap(), searched(std::process::id()).unwrap()];
        let none = searched(first).unwrap();
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(found.iter().all(|found| found.contains(&first) && found.contains(&last)));
        assert!(none.is_empty() && !listed(&list).unwrap().contains(&last));
    }
}
