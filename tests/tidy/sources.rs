//! The files of the repository, and the paths that a Rust file names.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A file of the repository, by its path from the root.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file, sorted, but for what cargo builds (it tags such folders), git's own, and links.
pub(crate) fn files() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
            let entry = entry.expect("an entry of it");
            let (path, kind) = (entry.path(), entry.file_type().expect("it has a type"));
            if kind.is_dir() && entry.file_name() != ".git" && !path.join("CACHEDIR.TAG").exists() {
                walk(&path, found);
            } else if kind.is_file() {
                let inside = path.strip_prefix(root()).expect("below the root");
                found.push(inside.to_string_lossy().into_owned());
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
    let bytes = std::fs::read(root().join(path)).unwrap_or_else(|e| panic!("read {path}: {e}"));
    Source { path: path.to_owned(), text: String::from_utf8_lossy(&bytes).into_owned() }
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

/// Links to files that are not there. Code is no prose: fenced blocks are left out.
pub(crate) fn dead_links(page: &Source) -> Vec<String> {
    let folder = root().join(&page.path).parent().expect("a file is in a folder").to_owned();
    let prose: String = page.text.split("```").step_by(2).collect();
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    targets
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains(':'))
        .filter(|target| match target.strip_prefix('/') {
            Some(from_root) => !root().join(from_root).exists(),
            None => !folder.join(target).exists(),
        })
        .map(|target| format!("{}: the link to {target} leads nowhere", page.path))
        .collect()
}

/// A path as `a::b::c`.
pub(crate) struct Named {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// How many inline modules are around it.
    pub(crate) depth: usize,
    /// It ends in `as …`.
    pub(crate) renamed: bool,
    /// It ends in `::*`.
    pub(crate) starred: bool,
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
                let mut segments = prefix.to_vec();
                segments.push(first.to_string());
                at += 1;
                let mut starred = false;
                while is_path_separator(&tokens, at) {
                    match tokens.get(at + 2) {
                        Some(TokenTree::Ident(next)) => segments.push(next.to_string()),
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                            collect(group.stream(), &segments, depth, found);
                        }
                        Some(TokenTree::Punct(star)) => starred = star.as_char() == '*',
                        _ => {}
                    }
                    at += 3;
                }
                let renamed = matches!(tokens.get(at), Some(TokenTree::Ident(next)) if next == "as");
                let module = (segments == ["mod"]).then(|| tokens.get(at + 1)).flatten();
                found.push(Named { segments, line: first.span().start().line, depth, renamed, starred });
                if let Some(TokenTree::Group(body)) = module {
                    collect(body.stream(), &[], depth + 1, found);
                    at += 2;
                }
            }
            TokenTree::Group(group) => {
                // Only the braces of an import carry its prefix on.
                collect(group.stream(), &[], depth, found);
                at += 1;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => at += 1,
        }
    }
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(at) && colon(at + 1)
}
