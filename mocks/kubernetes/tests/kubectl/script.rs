//! A script as its author wrote it: kubectl commands in order, and what is expected of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kubectl");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The file's name, which is also the namespace all commands run in.
    #[serde(skip)]
    pub(crate) name: String,
    /// What a reader learns about the API server here.
    #[expect(dead_code, reason = "for the reader of the file")]
    why: String,
    /// Scheduler and controllers run, and the test plays kubelet for all nodes.
    #[serde(default)]
    pub(crate) full: bool,
    /// A real cluster would answer otherwise.
    #[serde(default)]
    pub(crate) ours: bool,
    /// Commands watch, so they are held again with watches that begin with the list.
    #[serde(default)]
    pub(crate) watches: bool,
    /// Written to the directory the commands run in.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) steps: Vec<Step>,
}

/// One command. What it prints is judged line by line: each line of `out` and `err` is a regular expression that must
/// be found in what was printed, each behind the one before.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Its words behind `kubectl`, quoted as in a shell.
    pub(crate) run: String,
    #[serde(default)]
    pub(crate) code: i32,
    #[serde(default)]
    pub(crate) out: String,
    #[serde(default)]
    pub(crate) err: String,
    /// Must not be found in either.
    pub(crate) without: Option<String>,
    #[serde(default)]
    pub(crate) stdin: String,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The minors of kubectl it is for, both included.
    pub(crate) from: Option<u32>,
    pub(crate) to: Option<u32>,
    /// Runs beside the steps that follow until it has printed `out`; they begin when it has printed this.
    pub(crate) beside: Option<String>,
    /// Repeated until it is as expected: what a controller does has its time.
    #[serde(default)]
    pub(crate) soon: bool,
}

impl Script {
    /// All scripts there are, in the order of their names.
    pub(crate) fn all() -> Result<Vec<Self>, String> {
        let entries = fs::read_dir(FOLDER).map_err(|error| error.to_string())?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Result<Self, String> {
        let told = |error: String| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| told(error.to_string()))?;
        let mut script: Self = serde_yaml::from_str(&text).map_err(|error| told(error.to_string()))?;
        script.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(script)
    }
}

impl Step {
    pub(crate) fn is_for(&self, minor: u32) -> bool {
        self.from.is_none_or(|from| from <= minor) && self.to.is_none_or(|to| minor <= to)
    }

    pub(crate) fn words(&self) -> Vec<String> {
        words(&self.run)
    }
}

/// Splits at spaces; what is quoted stays together.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![];
    let (mut word, mut quote, mut begun) = (String::new(), None, false);
    for character in text.trim().chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(character), true),
            (None, ' ' | '\n') => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            _ => {
                word.push(character);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

pub(crate) fn words_are_split_as_a_shell_does() {
    let split = words(r#"get pods -o 'jsonpath={.a b}' -p "{'x': 1}" '' a'b'c"#);
    assert_eq!(split, ["get", "pods", "-o", "jsonpath={.a b}", "-p", "{'x': 1}", "", "abc"]);
}
