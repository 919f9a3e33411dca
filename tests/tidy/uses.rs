//! Who may use whom, as `docs/architecture.md` has it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Named, Source, names, read};

const PAGE: &str = "docs/architecture.md";

/// The table of the page.
pub(crate) struct Table {
    rows: BTreeMap<String, Row>,
}

struct Row {
    /// Names of rows, `row::Item` for that item only, or `*` for everybody.
    may: BTreeSet<String>,
    never: BTreeSet<String>,
}

impl Table {
    pub(crate) fn read() -> Self {
        let page = read(PAGE).text;
        let (_, table) = page.split_once("| who | may use | never |").expect("the page has the table");
        let quoted = |cell: &str| -> BTreeSet<String> {
            cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let mut rows = BTreeMap::new();
        for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let [who, may, never] = cells[..] else { panic!("{PAGE}: a row with three cells, not {line}") };
            let who = quoted(who).pop_first().unwrap_or_else(|| panic!("{PAGE}: nobody in {line}"));
            rows.insert(who, Row { may: quoted(may), never: quoted(never) });
        }
        for (who, row) in &rows {
            for name in row.may.iter().filter(|name| *name != "*") {
                let row = name.split("::").next().unwrap_or_default();
                assert!(rows.contains_key(row), "{PAGE}: `{who}` may use `{name}`, which has no row");
            }
        }
        Self { rows }
    }

    fn row(&self, who: &str) -> Result<&Row, String> {
        self.rows.get(who).ok_or_else(|| format!("`{who}` has no row ({PAGE}, who may use whom)"))
    }
}

impl Row {
    fn allows(&self, target: &str, item: Option<&String>) -> bool {
        let item = item.map(|item| format!("{target}::{item}"));
        ["*", target].iter().any(|name| self.may.contains(*name))
            || item.is_some_and(|item| self.may.contains(&item))
    }
}

/// What a module of the root package uses and may not.
pub(crate) fn of_module(table: &Table, source: &Source) -> Vec<String> {
    let Some(path) = source.path.strip_prefix("src/").and_then(|path| path.strip_suffix(".rs")) else {
        return Vec::new();
    };
    let mut place: Vec<&str> = path.split('/').filter(|part| *part != "mod").collect();
    let who = place.remove(0);
    let tell = |line: usize, what: &str| format!("{}:{line}: {what}", source.path);
    if who == "lib" {
        let uses = names(source).into_iter().filter(|name| name.segments == ["use"]);
        return uses
            .map(|name| tell(name.line, "lib.rs declares modules; a re-export would hide who uses whom"))
            .collect();
    }
    let row = match table.row(who) {
        Ok(row) => row,
        Err(why) => return vec![format!("{}: {why}", source.path)],
    };
    let mut findings = Vec::new();
    for name in names(source) {
        let refuse =
            |what: &str| tell(name.line, &format!("`{who}` may not use `{what}` ({PAGE}, who may use whom)"));
        match target(&name, place.len() + 1) {
            Target::Elsewhere => {}
            Target::Hidden => findings
                .push(tell(name.line, "a renamed or starred root hides who uses whom: name the module")),
            Target::Row(target, item) => {
                if target != who && table.rows.contains_key(&target) && !row.allows(&target, item.as_ref()) {
                    findings.push(refuse(&target));
                }
            }
        }
        let named = name.segments.join("::");
        findings.extend(row.never.iter().filter(|never| is_below(&named, never)).map(|never| refuse(never)));
    }
    findings
}

fn is_below(named: &str, banned: &str) -> bool {
    named.strip_prefix(banned).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Where a path leads.
enum Target {
    /// To a row of the table, perhaps, and to an item there.
    Row(String, Option<String>),
    /// To all of them, so that nobody can tell.
    Hidden,
    /// Into the file's own module, or to somebody else's crate.
    Elsewhere,
}

/// Where a path leads, seen from a file this many modules deep.
fn target(name: &Named, file_depth: usize) -> Target {
    let segments: Vec<&String> = name.segments.iter().filter(|segment| *segment != "self").collect();
    let Some(first) = segments.first() else { return Target::Elsewhere };
    let supers = segments.iter().take_while(|segment| **segment == "super").count();
    let below_root = if *first == "crate" || *first == "scaleproof" {
        1
    } else if supers > 0 && supers == file_depth + name.depth {
        supers
    } else if first.starts_with("mock_") && (segments.len() > 1 || name.renamed) {
        return Target::Row(first.replace('_', "-"), segments.get(1).map(|item| (*item).clone()));
    } else {
        return Target::Elsewhere;
    };
    match segments.get(below_root) {
        Some(module) => {
            Target::Row((*module).clone(), segments.get(below_root + 1).map(|item| (*item).clone()))
        }
        // `pub(crate)` ends here too, and hides nothing.
        None if name.renamed || name.starred => Target::Hidden,
        None => Target::Elsewhere,
    }
}

/// What a member under `mocks/` depends on and may not, as cargo itself understands its manifest.
pub(crate) fn of_members(table: &Table) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo speaks JSON");
    let list = |value: &serde_json::Value| value.as_array().expect("a list").clone();
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let packages: Vec<_> = list(&metadata["packages"]);
    let ours: BTreeSet<String> = packages.iter().map(|package| text(&package["name"])).collect();
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| package["name"] != "scaleproof") {
        let who = text(&package["name"]);
        let used = list(&package["dependencies"]).into_iter().map(|used| text(&used["name"]));
        let row = match table.row(&who) {
            Ok(row) => row,
            Err(why) => {
                findings.push(why);
                continue;
            }
        };
        let refused = used.filter(|name| ours.contains(name) && !row.allows(name, None));
        findings.extend(
            refused.map(|name| format!("member {who} may not depend on `{name}` ({PAGE}, who may use whom)")),
        );
    }
    findings
}
