//! Who may use whom, as `docs/architecture.md` has it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Named, Source, files, names, read};

const PAGE: &str = "docs/architecture.md";

/// The table of the page.
pub(crate) struct Table {
    rows: BTreeMap<String, Row>,
}

struct Row {
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
        let known = |name: &String| name == "*" || rows.contains_key(name);
        for (who, row) in &rows {
            row.may
                .iter()
                .for_each(|name| assert!(known(name), "{PAGE}: `{who}` may use `{name}`, which has no row"));
        }
        Self { rows }
    }

    fn row(&self, who: &str) -> Result<&Row, String> {
        self.rows.get(who).ok_or_else(|| format!("`{who}` has no row ({PAGE}, who may use whom)"))
    }
}

/// What a module of the root package uses and may not.
pub(crate) fn of_module(table: &Table, source: &Source) -> Vec<String> {
    let Some(path) = source.path.strip_prefix("src/").and_then(|path| path.strip_suffix(".rs")) else {
        return Vec::new();
    };
    let mut place: Vec<&str> = path.split('/').filter(|part| *part != "mod").collect();
    let who = place.remove(0);
    if who == "lib" {
        return Vec::new();
    }
    let row = match table.row(who) {
        Ok(row) => row,
        Err(why) => return vec![format!("{}: {why}", source.path)],
    };
    let mut findings = Vec::new();
    for name in names(source) {
        let tell = |what: &str| {
            format!("{}:{}: `{who}` may not use `{what}` ({PAGE}, who may use whom)", source.path, name.line)
        };
        if let Some(target) = target(&name, place.len() + 1)
            && target != who
            && table.rows.contains_key(&target)
            && !row.may.contains(&target)
            && !row.may.contains("*")
        {
            findings.push(tell(&target));
        }
        let named = name.segments.join("::");
        findings.extend(row.never.iter().filter(|never| is_below(&named, never)).map(|never| tell(never)));
    }
    findings
}

fn is_below(named: &str, banned: &str) -> bool {
    named.strip_prefix(banned).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The module or member that a path leads to, seen from a file so many modules deep.
fn target(name: &Named, file_depth: usize) -> Option<String> {
    let first = name.segments.first()?;
    if first == "crate" || first == "scaleproof" {
        return name.segments.get(1).cloned();
    }
    let supers = name.segments.iter().take_while(|segment| *segment == "super").count();
    if supers > 0 && supers == file_depth + name.depth {
        return name.segments.get(supers).cloned();
    }
    (first.starts_with("mock_") && name.segments.len() > 1).then(|| first.replace('_', "-"))
}

/// What a member under `mocks/` depends on and may not.
pub(crate) fn of_members(table: &Table) -> Vec<String> {
    let mut findings = Vec::new();
    for path in files().iter().filter(|path| path.starts_with("mocks/") && path.ends_with("/Cargo.toml")) {
        let manifest: toml::Table = read(path).text.parse().unwrap_or_else(|e| panic!("{path}: {e}"));
        let who = manifest["package"]["name"].as_str().expect("a package has a name");
        let row = match table.row(who) {
            Ok(row) => row,
            Err(why) => {
                findings.push(format!("{path}: {why}"));
                continue;
            }
        };
        let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
        let used = sections
            .iter()
            .filter_map(|section| manifest.get(*section)?.as_table())
            .flat_map(|table| table.keys());
        let ours = used.filter(|name| name.starts_with("mock-") || *name == "scaleproof");
        findings
            .extend(ours.filter(|name| !row.may.contains(*name)).map(|name| {
                format!("{path}: `{who}` may not depend on `{name}` ({PAGE}, who may use whom)")
            }));
    }
    findings
}
