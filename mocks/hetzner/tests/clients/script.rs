//! A script as its author wrote it: commands of the CLI in order, and what is expected of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/cli");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The file's name.
    #[serde(skip)]
    pub(crate) name: String,
    /// What a reader learns about the API here.
    #[expect(dead_code, reason = "for the reader of the file")]
    why: String,
    /// Written to the directory the commands run in.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) steps: Vec<Step>,
}

/// One command. Each line of `out` and `err` is a regular expression that must be found in what was printed, each
/// behind the one before. `{{name}}` stands for what an earlier step kept.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Its words behind `hcloud`, quoted as in a shell.
    pub(crate) run: String,
    #[serde(default)]
    pub(crate) code: i32,
    #[serde(default)]
    pub(crate) out: String,
    #[serde(default)]
    pub(crate) err: String,
    /// What stands at these places of the JSON that was printed; `null` also where nothing stands.
    #[serde(default)]
    pub(crate) json: BTreeMap<String, Value>,
    /// Names for what stands at these places.
    #[serde(default)]
    pub(crate) keep: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

/// What was kept, by its name.
pub(crate) type Kept = BTreeMap<String, Value>;

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
    /// With all that was kept in its place.
    pub(crate) fn filled(&self, kept: &Kept) -> Self {
        let mut step = self.clone();
        for text in [&mut step.run, &mut step.out, &mut step.err] {
            *text = filled(text, kept);
        }
        step.json.values_mut().for_each(|value| fill(value, kept));
        step
    }

    /// Everything it names was kept.
    pub(crate) fn is_whole(&self) -> bool {
        [&self.run, &self.out, &self.err].iter().all(|text| !text.contains("{{"))
    }

    pub(crate) fn words(&self) -> Vec<String> {
        words(&self.run)
    }
}

/// A text that is nothing but a name becomes the very value.
fn fill(value: &mut Value, kept: &Kept) {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
            *value =
                name.and_then(|name| kept.get(name).cloned()).unwrap_or_else(|| filled(text, kept).into());
        }
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, kept)),
        _ => {}
    }
}

fn filled(text: &str, kept: &Kept) -> String {
    kept.iter().fold(text.to_owned(), |text, (name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.replace(&format!("{{{{{name}}}}}"), &value)
    })
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
    let split = words(r#"server list -o 'columns=a b' -p "{'x': 1}" '' a'b'c"#);
    assert_eq!(split, ["server", "list", "-o", "columns=a b", "-p", "{'x': 1}", "", "abc"]);
}
