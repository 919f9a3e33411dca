//! A conversation as its author wrote it: the requests, in order, and what of the answers matters.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kubernetes/transcripts");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The file's name, which is also the namespace `{{ns}}`; it exists before the first step.
    #[serde(skip)]
    pub(crate) name: String,
    /// What a reader learns about the API here.
    #[expect(dead_code, reason = "for the reader of the file")]
    why: String,
    /// Whether `metadata.managedFields` are compared; most servers of this kind keep them for appliers only.
    #[serde(default)]
    pub(crate) managed_fields: bool,
    pub(crate) steps: Vec<Step>,
}

/// One request. `{{step.path}}` in any of its texts stands for what an earlier step was answered.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) name: String,
    /// `METHOD /path?query`; a step without it reads on from the watch named in `from`.
    #[serde(default)]
    pub(crate) send: String,
    #[serde(rename = "type")]
    pub(crate) content_type: Option<String>,
    pub(crate) accept: Option<String>,
    /// More headers.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// The body: a value sent as JSON, a text as it stands, or bytes in base64. At most one.
    pub(crate) json: Option<Value>,
    pub(crate) text: Option<String>,
    pub(crate) base64: Option<String>,
    /// A watch: read this many events and hang up, or with `open` come back for more.
    pub(crate) take: Option<usize>,
    #[serde(default)]
    pub(crate) open: bool,
    pub(crate) from: Option<String>,
    /// Asked again until it is so: `found`, or `place=text`. For what a real server does a little later.
    pub(crate) until: Option<String>,
    /// Only these places of the answer's body are compared.
    #[serde(default)]
    pub(crate) pick: Vec<String>,
    /// Only prepares: must succeed, and is not compared.
    #[serde(default)]
    pub(crate) setup: bool,
}

impl Script {
    /// All conversations there are, in the order of their names.
    pub(crate) fn paths() -> Vec<PathBuf> {
        let entries = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
        paths.sort();
        paths
    }

    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let mut script: Self = serde_yaml::from_str(&text).map_err(|error| error.to_string())?;
        script.name = name_of(path);
        let mut names: Vec<&str> = script.steps.iter().map(|step| step.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two steps are called {:?}", pair[0])),
            None => Ok(script),
        }
    }
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}
