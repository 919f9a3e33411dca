//! Reads the repository and tells what a reviewer would: who uses whom, what is missing, what may not be here.
//!
//! The rules stand as data: the table of `docs/architecture.md`, `clippy.toml`, and the lists in `tidy/bans.rs`.

#[path = "tidy/bans.rs"]
mod bans;
#[path = "tidy/catalogues.rs"]
mod catalogues;
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
    let says = |source: &Source| {
        let first = source.text.lines().next().unwrap_or_default();
        first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty())
            || first.starts_with("// @generated")
    };
    let silent = |source: &&Source| !says(source);
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
    fn convict_users_of_what_they_may_not_use() {
        assert_eq!(
            uses("src/check/su01.rs", "//!\nuse crate::history::Event;\nuse crate::{code, door::Fate};\n"),
            ["src/check/su01.rs:3: `check` may not use `door` (docs/architecture.md, who may use whom)"]
        );
        for text in [
            "fn f() { super::super::cloud::f() }",
            "use self::super::super::cloud::f;",
            "mod tests { use super::super::super::cloud::f; }",
            "fn f() { m!(crate::run::go()) }",
            "use crate as root;",
            "use crate::{self as root};",
            "use crate::*;",
            "use super::super::*;",
            "use mock_hetzner as cloud;",
            "use mock_clock::VirtualClock;",
            "use tokio as t;",
            "use std::{fs, fmt};",
        ] {
            assert_eq!(uses("src/check/su01.rs", text).len(), 1, "{text}");
        }
        assert_eq!(uses("src/history/file.rs", "use mock_hetzner::Engine;").len(), 1);
        assert_eq!(uses("src/novel/mod.rs", "fn f() {}").len(), 1, "no row");
        assert_eq!(uses("src/lib.rs", "pub mod door; pub use door::Fate;").len(), 1, "a re-export");
    }

    #[test]
    fn let_pass_users_of_what_they_may_use() {
        for text in [
            "use crate::{check::verdict, history::*}; use super::verdict;",
            "pub(crate) mod tests { use super::super::verdict; use super::*; }",
            "use mock_clock::Time; pub(super) fn f(n: u8) -> u64 { self::g(n) as u64 }",
        ] {
            assert_eq!(uses("src/check/su01.rs", text), [""; 0], "{text}");
        }
        assert_eq!(uses("src/cli/run.rs", "use crate::run::run; use mock_clock::Clock;"), [""; 0]);
        assert_eq!(
            uses("tests/suites.rs", "use scaleproof::run::run;"),
            [""; 0],
            "tests stand outside the arrow"
        );
    }

    #[test]
    fn convict_clocks_and_randomness_anywhere_else() {
        let calls = |text: &str| bans::calls(&source("src/door/mod.rs", text)).len();
        for text in [
            "fn f() { std::time::Instant::now(); }",
            "use std::{thread::sleep, time};",
            "use tokio::{sync, time::{sleep, Instant}};",
            "fn f() -> HashMap<u8, u8> { g() }",
            "#[expect(clippy::disallowed_methods, reason = \"so\")] fn f() {}",
            "#[expect(unsafe_code, reason = \"so\")] fn f() {}",
            "use rand::Rng;",
        ] {
            assert_eq!(calls(text), 1, "{text}");
        }
        assert_eq!(calls("// Instant::now()\nfn f(rand: u8, sleep: u8) { \"SystemTime::now\"; }"), 0);
        assert_eq!(bans::calls(&source("src/plan/draw.rs", "use rand::Rng;")), [""; 0]);
    }

    #[test]
    fn convict_names_that_say_nothing() {
        assert!(bans::name("src/util.rs").is_some());
        assert!(bans::name("src/door/helpers/mod.rs").is_some());
        assert!(bans::name("src/door/tls.rs").is_none());
        assert!(bans::name("fixtures/crds/types.yaml").is_none(), "others name their files as they like");
    }

    #[test]
    fn convict_a_dead_link() {
        let page = source(
            "docs/x.md",
            "[a](architecture.md#the-arrow) [b](nowhere.md) [c](https://example.org) [d](/README.md \"t\")\n```\n[e](f)\n```",
        );
        assert_eq!(sources::dead_links(&page), ["docs/x.md: the link to nowhere.md leads nowhere"]);
    }
}
