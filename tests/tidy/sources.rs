//! The files of the repository, and the paths that a Rust file names.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A file of the repository, by its path from the root.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Folders that hold nothing of ours.
const NOT_OURS: [&str; 2] = ["target", ".git"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file, sorted.
pub(crate) fn files() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
            let path = entry.expect("an entry of it").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("names are text");
            if NOT_OURS.contains(&name) {
                continue;
            }
            if path.is_dir() {
                walk(&path, found);
            } else {
                let inside = path.strip_prefix(root()).expect("below the root");
                found.push(inside.to_str().expect("names are text").to_owned());
            }
        }
    }
    let mut found = Vec::new();
    walk(root(), &mut found);
    found.sort();
    found
}

/// Reads one file.
pub(crate) fn read(path: &str) -> Source {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("read {path}: {e}"));
    Source { path: path.to_owned(), text }
}

/// Writes one file.
pub(crate) fn write(path: &str, text: &str) {
    std::fs::write(root().join(path), text).unwrap_or_else(|e| panic!("write {path}: {e}"));
}

fn ending(end: &str) -> Vec<Source> {
    files().iter().filter(|path| path.ends_with(end)).map(|path| read(path)).collect()
}

/// Every Rust file.
pub(crate) fn rust() -> Vec<Source> {
    ending(".rs")
}

/// Every document.
pub(crate) fn markdown() -> Vec<Source> {
    ending(".md")
}

/// Links to files that are not there.
pub(crate) fn dead_links(page: &Source) -> Vec<String> {
    let folder = root().join(&page.path).parent().expect("a file is in a folder").to_owned();
    let targets =
        page.text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .filter(|target| !folder.join(target.split('#').next().unwrap_or_default()).exists())
        .map(|target| format!("{}: the link to {target} leads nowhere", page.path))
        .collect()
}

/// A path as `a::b::c`, the line it stands in, and how many inline modules are around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    pub(crate) depth: usize,
}

/// Every path and name in a Rust file, groups as in `a::{b, c}` taken apart, inside macros too.
pub(crate) fn names(source: &Source) -> Vec<Named> {
    let tokens: TokenStream = source.text.parse().unwrap_or_else(|e| panic!("{}: {e}", source.path));
    let mut found = Vec::new();
    collect(tokens, &[], 0, &mut found);
    found
}

fn collect(tokens: TokenStream, prefix: &[String], depth: usize, found: &mut Vec<Named>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(first) => {
                let line = first.span().start().line;
                let mut segments = prefix.to_vec();
                segments.push(first.to_string());
                at += 1;
                while is_path_separator(&tokens, at) {
                    match tokens.get(at + 2) {
                        Some(TokenTree::Ident(next)) => segments.push(next.to_string()),
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                            collect(group.stream(), &segments, depth, found);
                        }
                        _ => {}
                    }
                    at += 3;
                }
                let opens_module =
                    segments == ["mod"] && matches!(tokens.get(at + 1), Some(TokenTree::Group(_)));
                found.push(Named { segments, line, depth });
                if opens_module && let TokenTree::Group(body) = &tokens[at + 1] {
                    collect(body.stream(), &[], depth + 1, found);
                    at += 2;
                }
            }
            TokenTree::Group(group) => {
                // Only the braces of an import carry its prefix on.
                collect(group.stream(), &[], depth, found);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(at) && colon(at + 1)
}
