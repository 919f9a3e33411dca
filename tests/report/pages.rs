//! The page with the timeline, without a browser.

use std::collections::BTreeSet;
use std::path::Path;

use scaleproof::history::History;
use scaleproof::report::{Telling, html};

use crate::rich::{big, big_judgement, rich};
use crate::{rich_telling, stored, telling};

fn page(history: &History) -> String {
    html::page(history, &telling(history))
}

/// The page of a story of many servers.
fn large(servers: usize) -> String {
    let history = big(servers);
    html::page(&history, &Telling::of(&history, &big_judgement(&history, servers), None))
}

/// The values of an attribute.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let start = format!(" {attribute}=\"");
    page.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

fn whole(name: &Path, page: &str) {
    let name = name.display();
    for foreign in [" src=", "<link", "@import", "url(", "<iframe", "fetch("] {
        assert!(!page.contains(foreign), "{name} wants something from elsewhere: {foreign}");
    }
    let ids = values(page, "id");
    let named: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), named.len(), "{name}: an id is given twice");
    for link in values(page, "href").into_iter().filter_map(|link| link.strip_prefix('#')) {
        assert!(named.contains(link), "{name}: nothing is called {link}");
    }
}

#[test]
fn every_stored_history_has_a_page_that_needs_nothing_but_itself() {
    for (path, history) in stored() {
        whole(&path, &page(&history));
    }
    for (name, page) in [("rich", page(&rich())), ("big", large(120))] {
        whole(Path::new(name), &page);
    }
}

#[test]
fn a_history_of_which_little_is_left_has_a_page_too() {
    let mut history = rich();
    for length in [40, 3, 1, 0] {
        history.events.truncate(length);
        history.cut_short = Some("somebody pulled the plug".into());
        let page = page(&history);
        assert!(page.contains("somebody pulled the plug"));
        whole(Path::new(&format!("{length} events")), &page);
    }
}

#[test]
fn everything_people_look_for_is_on_the_timeline() {
    let history = rich();
    let page = html::page(&history, &rich_telling(&history));
    let wants = [
        "band-evidence",
        "band-course",
        "band-faults",
        "band-pods",
        "band-nodes",
        "band-servers",
        "band-calls",
        "band-subject",
        "bar node booting",
        "bar node unready",
        "bar node ready",
        "bar node tainted",
        "bar node deleting",
        "bar fault harmless",
        "mark bit",
        "bar server starting",
        "bar overdue",
        "bar leader",
        "mark pin",
        "mark refused",
        "mark glyph bad",
        "€0.038 in all",
        "svg",
        "id=\"proof-1\"",
    ];
    for want in wants {
        assert!(page.contains(want), "{want}");
    }
    assert_eq!(values(&page, "data-span-ms"), ["5400000"]);
}

#[test]
fn a_page_stays_bounded_when_a_run_is_large() {
    let page = large(500);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    assert!(page.contains("pool small: 500 nodes, at most 500"));
    assert!(page.matches("class=\"row").count() < 150);
}
