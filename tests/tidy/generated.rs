//! Text that is made from code: it stands between two comments, and can be regenerated.

use crate::catalogues;
use crate::sources::{read, write};

/// A file, the name of the part in it that is generated, and what it must say.
fn parts() -> Vec<(&'static str, &'static str, String)> {
    vec![
        ("README.md", "exit-codes", scaleproof::exit::markdown()),
        ("README.md", "overview", catalogues::overview()),
        ("suites/README.md", "expectations", catalogues::expectations()),
        ("suites/README.md", "faults", catalogues::faults()),
        ("suites/README.md", "scenarios", catalogues::suites()),
    ]
}

const HOW: &str = "GENERATE=1 cargo test --test tidy generated_text_is_fresh";

/// Parts that do not say what they must. With `GENERATE` in the environment they are made to, but not in CI.
pub(crate) fn stale() -> Vec<String> {
    let generate = std::env::var_os("GENERATE").is_some() && std::env::var_os("CI").is_none();
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
        if generate {
            write(path, &format!("{before}{begin}{fresh}{end}{after}"));
        } else {
            stale.push(format!("{path}: the part `{name}` is stale; regenerate it with {HOW}"));
        }
    }
    stale
}
