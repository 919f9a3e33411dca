//! The scenarios that come along, so that their names mean the same wherever the program runs.

/// Names and texts, in the order of folders and files; `build.rs` writes it.
const BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// The name of each, as its path from the root of the repository, and its text, folder by folder.
pub fn builtin() -> &'static [(&'static str, &'static str)] {
    BUILTIN
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn count(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let below = |path: std::path::PathBuf| {
            if path.is_dir() { count(&path) } else { usize::from(path.extension().unwrap() == "yaml") }
        };
        entries.map(below).sum()
    }

    #[test]
    fn all_that_lie_below_suites_come_along() {
        for (name, text) in builtin() {
            assert_eq!(std::fs::read_to_string(name).unwrap(), *text, "{name}");
        }
        assert_eq!(builtin().len(), count(Path::new("suites")));
        // As folders are read: all that is in one, then the next.
        assert!(builtin().is_sorted_by(|(one, _), (other, _)| Path::new(one) < Path::new(other)));
    }
}
