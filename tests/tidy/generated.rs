//! Text that is made from code: it stands between two comments, and `just generate` makes it anew.

use crate::sources::{read, write};

/// A file, the name of the part in it that is generated, and what it must say.
fn parts() -> Vec<(&'static str, &'static str, String)> {
    vec![("README.md", "exit-codes", scaleproof::exit::markdown())]
}

/// Parts that do not say what they must; with `GENERATE` in the environment they are made to, and none is left.
pub(crate) fn stale() -> Vec<String> {
    let mut stale = Vec::new();
    for (path, name, fresh) in parts() {
        let (begin, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->"));
        let text = read(path).text;
        let found = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?)));
        let Some((before, (now, after))) = found else {
            stale.push(format!("{path}: no part between `{}` and `{end}`", begin.trim_end()));
            continue;
        };
        if now == fresh {
            continue;
        }
        if std::env::var_os("GENERATE").is_some() {
            write(path, &format!("{before}{begin}{fresh}{end}{after}"));
        } else {
            stale.push(format!("{path}: the part `{name}` is stale; `just generate` makes it anew"));
        }
    }
    stale
}
