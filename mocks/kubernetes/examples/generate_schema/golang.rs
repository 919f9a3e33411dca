//! The Go side: structs with their tags and markers, read line by line as gofmt lays them out.

use std::collections::BTreeMap;
use std::path::Path;

/// The types that one package declares.
#[derive(Default)]
pub(crate) struct Package {
    pub(crate) structs: BTreeMap<String, Struct>,
    /// `type List metav1.List`: the name and what stands behind it, with the package spelled as `v1.List`.
    pub(crate) named: BTreeMap<String, String>,
    /// `type Kind = v1.Kind`, both with their packages: `reflect` prints the second.
    pub(crate) aliases: BTreeMap<String, String>,
}

#[derive(Clone, Default)]
pub(crate) struct Struct {
    /// Has `metav1.TypeMeta` inline: it is a kind.
    pub(crate) kind: bool,
    pub(crate) markers: Markers,
    /// By protobuf tag.
    pub(crate) fields: BTreeMap<i32, Field>,
}

#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of a row, each apart from the others")]
pub(crate) struct Field {
    /// The Go name, which errors print for an embedded struct.
    pub(crate) name: String,
    pub(crate) json: String,
    pub(crate) pointer: bool,
    pub(crate) inline: bool,
    pub(crate) omit_empty: bool,
    pub(crate) omit_zero: bool,
    /// As `reflect` prints it, without a leading pointer.
    pub(crate) go: String,
    pub(crate) patch_strategy: String,
    pub(crate) patch_merge_key: String,
    pub(crate) markers: Markers,
}

/// The `+listType=…` comments.
#[derive(Clone, Default)]
pub(crate) struct Markers(Vec<(String, String)>);

impl Markers {
    fn note(&mut self, comment: &str) {
        let Some(marker) = comment.trim().strip_prefix('+') else { return };
        let Some((key, value)) = marker.split_once('=') else { return };
        self.0.push((key.to_owned(), value.trim().to_owned()));
    }

    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, key: &str, value: &str) -> bool {
        self.all(key).any(|found| found == value)
    }
}

impl Package {
    pub(crate) fn read(directory: &Path, path: &str) -> std::io::Result<Self> {
        let mut package = Self::default();
        for file in std::fs::read_dir(directory)? {
            let file = file?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let written = !name.ends_with("_test.go") && !name.contains("generated");
            if written && file.extension().is_some_and(|extension| extension == "go") {
                package.file(&std::fs::read_to_string(&file)?, path);
            }
        }
        Ok(package)
    }

    fn file(&mut self, source: &str, path: &str) {
        let own = path.rsplit('/').next().unwrap_or(path);
        let imports = imports(source);
        let mut markers = Markers::default();
        let mut open: Option<(String, Struct)> = None;
        for line in source.lines() {
            let text = line.trim();
            if let Some(comment) = text.strip_prefix("//") {
                markers.note(comment);
                continue;
            }
            let noted = std::mem::take(&mut markers);
            if let Some((name, found)) = &mut open {
                if line == "}" {
                    self.structs.insert(std::mem::take(name), std::mem::take(found));
                    open = None;
                } else {
                    found.line(text, own, &imports, noted);
                }
            } else if let Some(rest) = line.strip_prefix("type ") {
                let mut words = rest.split_whitespace();
                let (name, what) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
                if what == "struct" && rest.ends_with('{') {
                    open = Some((name.to_owned(), Struct { markers: noted, ..Struct::default() }));
                } else if what == "=" {
                    let behind = spelled(words.next().unwrap_or(""), own, &imports);
                    self.aliases.insert(format!("{own}.{name}"), behind);
                } else {
                    self.named.insert(name.to_owned(), spelled(what, own, &imports));
                }
            }
        }
    }
}

impl Struct {
    fn line(&mut self, text: &str, own: &str, imports: &BTreeMap<String, String>, markers: Markers) {
        let Some((declared, rest)) = text.split_once('`') else { return };
        let tags = rest.split('`').next().unwrap_or("");
        let mut words = declared.split_whitespace();
        let first = words.next().unwrap_or("");
        let typed = words.next().unwrap_or(first);
        let json = tag(tags, "json");
        let mut options = json.split(',');
        let name = options.next().unwrap_or("");
        let options: Vec<&str> = options.collect();
        let inline = options.contains(&"inline");
        if inline && typed.ends_with("TypeMeta") {
            self.kind = true;
        }
        let number = tag(tags, "protobuf").split(',').nth(1).and_then(|number| number.parse().ok());
        let Some(number) = number else { return };
        let field = Field {
            name: first.rsplit('.').next().unwrap_or(first).to_owned(),
            json: name.to_owned(),
            pointer: typed.starts_with('*'),
            inline,
            omit_empty: options.contains(&"omitempty"),
            omit_zero: options.contains(&"omitzero"),
            go: spelled(typed.trim_start_matches('*'), own, imports),
            patch_strategy: tag(tags, "patchStrategy").to_owned(),
            patch_merge_key: tag(tags, "patchMergeKey").to_owned(),
            markers,
        };
        self.fields.insert(number, field);
    }
}

/// The value of one key in a struct tag.
fn tag<'a>(tags: &'a str, key: &str) -> &'a str {
    let start = format!("{key}:\"");
    tags.find(&start).and_then(|at| tags[at + start.len()..].split('"').next()).unwrap_or("")
}

/// Alias to package name.
fn imports(source: &str) -> BTreeMap<String, String> {
    let mut imports = BTreeMap::new();
    for line in source.lines().take_while(|line| !line.starts_with("type ")) {
        let Some((alias, rest)) = line.trim().trim_start_matches("import ").split_once('"') else { continue };
        let name = rest.trim_end_matches('"').rsplit('/').next().unwrap_or("").to_owned();
        let alias = if alias.trim().is_empty() { name.clone() } else { alias.trim().to_owned() };
        imports.insert(alias, name);
    }
    imports
}

/// A type as `reflect` prints it: every name with its package.
fn spelled(typed: &str, own: &str, imports: &BTreeMap<String, String>) -> String {
    if let Some(element) = typed.strip_prefix("[]") {
        return format!("[]{}", spelled(element, own, imports));
    }
    if let Some(element) = typed.strip_prefix('*') {
        return format!("*{}", spelled(element, own, imports));
    }
    if let Some((key, value)) = typed.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return format!("map[{}]{}", spelled(key, own, imports), spelled(value, own, imports));
    }
    match typed.split_once('.') {
        Some((package, name)) => {
            format!("{}.{name}", imports.get(package).map_or(package, String::as_str))
        }
        None if typed == "byte" => "uint8".to_owned(),
        None if typed.starts_with(char::is_lowercase) => typed.to_owned(),
        None => format!("{own}.{typed}"),
    }
}
