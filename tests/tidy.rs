//! Reads the repository and tells what a reviewer would: who uses whom, what is missing, what may not be here.
//!
//! The rules stand as data: the table of `docs/architecture.md`, and the lists in `tidy/bans.rs`.

#[path = "tidy/bans.rs"]
mod bans;
#[path = "tidy/generated.rs"]
mod generated;
#[path = "tidy/sources.rs"]
mod sources;
#[path = "tidy/uses.rs"]
mod uses;

use sources::{Source, files, markdown, rust};

/// Fails with one line a finding.
#[track_caller]
fn none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn modules_use_only_whom_they_may() {
    let table = uses::Table::read();
    let mut findings: Vec<String> =
        rust().iter().flat_map(|source| uses::of_module(&table, source)).collect();
    findings.extend(uses::of_members(&table));
    none(&findings);
}

#[test]
fn every_file_says_what_it_is() {
    let silent = |source: &&Source| !source.text.starts_with("//!");
    let tell = |source: &Source| {
        format!("{}: does not begin with `//!`: what it is, and what it does not do", source.path)
    };
    none(&rust().iter().filter(silent).map(tell).collect::<Vec<_>>());
}

#[test]
fn names_say_something() {
    none(&files().iter().filter_map(|path| bans::name(path)).collect::<Vec<_>>());
}

#[test]
fn clocks_and_randomness_stay_in_their_file() {
    none(&rust().iter().flat_map(bans::calls).collect::<Vec<_>>());
}

#[test]
fn bans_that_nobody_needs_any_more_are_gone() {
    none(&bans::stale(&rust()));
}

#[test]
fn generated_text_is_fresh() {
    none(&generated::stale());
}

#[test]
fn links_in_documents_lead_somewhere() {
    none(&markdown().iter().flat_map(sources::dead_links).collect::<Vec<_>>());
}

/// The rules themselves must be able to fail.
mod the_rules {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    fn uses(path: &str, text: &str) -> Vec<String> {
        uses::of_module(&uses::Table::read(), &source(path, text))
    }

    #[test]
    fn convict_who_uses_whom_he_may_not() {
        assert_eq!(
            uses("src/check/su01.rs", "//!\nuse crate::history::Event;\nuse crate::{code, door::Fate};\n"),
            ["src/check/su01.rs:3: `check` may not use `door` (docs/architecture.md, who may use whom)"]
        );
        assert_eq!(uses("src/check/su01.rs", "fn f() { super::super::cloud::f() }").len(), 1);
        assert_eq!(uses("src/check/su01.rs", "mod tests { use super::super::super::cloud::f; }").len(), 1);
        assert_eq!(uses("src/check/su01.rs", "fn f() { m!(crate::run::go()) }").len(), 1, "in a macro too");
        assert_eq!(uses("src/history/file.rs", "use mock_hetzner::Engine;").len(), 1);
        assert_eq!(uses("src/check/mod.rs", "use tokio::sync::mpsc; fn f() { std::fs::read(x) }").len(), 2);
        assert_eq!(uses("src/novel/mod.rs", "fn f() {}").len(), 1, "no row");
    }

    #[test]
    fn let_pass_who_may() {
        assert!(
            uses("src/check/su01.rs", "use crate::{check::verdict, history::*}; use super::verdict;")
                .is_empty()
        );
        assert!(uses("src/check/su01.rs", "mod tests { use super::super::verdict; }").is_empty());
        assert!(uses("src/cli/run.rs", "use crate::run::run; use mock_clock::Clock;").is_empty());
        assert!(
            uses("tests/suites.rs", "use scaleproof::run::run;").is_empty(),
            "tests stand outside the arrow"
        );
    }

    #[test]
    fn convict_a_clock_read_anywhere_else() {
        let calls = |text: &str| bans::calls(&source("src/plan/mod.rs", text)).len();
        assert_eq!(calls("fn f() { std::time::Instant::now(); }"), 1);
        assert_eq!(calls("use std::{thread::sleep, time};"), 1);
        assert_eq!(calls("use tokio::{sync, time::{sleep, timeout}};"), 1, "one finding a line");
        assert_eq!(calls("fn f(c: Condvar) { c.wait_timeout(g, d); }"), 1);
        assert_eq!(calls("fn f() -> HashMap<u8, u8> { todo() }"), 1);
        assert_eq!(calls("// Instant::now() in a comment\nfn f() { \"SystemTime::now\"; }"), 0);
    }

    #[test]
    fn convict_names_that_say_nothing() {
        assert!(bans::name("src/util.rs").is_some());
        assert!(bans::name("src/door/helpers/mod.rs").is_some());
        assert!(bans::name("src/door/tls.rs").is_none());
    }

    #[test]
    fn convict_a_dead_link() {
        let page =
            source("docs/x.md", "[a](architecture.md#the-arrow) [b](nowhere.md) [c](https://example.org)");
        assert_eq!(sources::dead_links(&page), ["docs/x.md: the link to nowhere.md leads nowhere"]);
    }
}
