//! Selectors against labels, one by one and against a naive reading of the same terms.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

fn labels(text: &str) -> BTreeMap<String, String> {
    text.split_whitespace()
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn matches(selector: &str, on: &str) -> bool {
    Selector::parse(selector).unwrap().matches(&labels(on))
}

#[test]
fn each_form_takes_what_it_means_and_leaves_the_rest() {
    for (selector, takes, leaves) in [
        ("k=v", "k=v x=y", "k=w"),
        ("k==v", "k=v", "x=v"),
        ("k=", "k=", "k=v"),
        ("k", "k=v", "x=k"),
        ("!k", "x=k", "k="),
        ("k!=v", "k=w", "k=v"),
        ("k!=v", "", "k=v"),
        ("k!=", "k=v", "k="),
        ("k in (a,b)", "k=b", "k=c"),
        ("k in (a,b)", "k=a", ""),
        ("k in (a,)", "k=", "k=b"),
        ("k notin (a,b)", "k=c", "k=a"),
        ("k notin (a,b)", "", "k=b"),
        ("in in (in)", "in=in", "in=x"),
        ("k=v,!x", "k=v", "k=v x="),
    ] {
        assert!(matches(selector, takes), "{selector} takes {takes}");
        assert!(!matches(selector, leaves), "{selector} leaves {leaves}");
    }
    assert!(!matches("k=v,k=w", "k=v"), "both cannot hold");
}

#[test]
fn what_clients_send_is_read() {
    let node = "karpenter.sh/managed-by=karpenter karpenter.sh/cluster=c1";
    assert!(matches("karpenter.sh/managed-by=karpenter,karpenter.sh/cluster=c1", node));
    assert!(!matches("karpenter.sh/managed-by=karpenter,karpenter.sh/cluster=c2", node));
    assert!(matches("hcloud-ccm/service-uid=3f-1", "hcloud-ccm/service-uid=3f-1"));
    assert!(matches("hetzner.cloud/x!=y", ""), "a reserved key can be asked for");
}

#[test]
fn spaces_do_not_count_and_nothing_takes_all() {
    assert!(matches("  k  in ( a , b ) ,  ! x ,y == z ", "k=b y=z"));
    assert!(matches("k in(a)", "k=a"));
    for nothing in ["", "   "] {
        assert!(matches(nothing, ""));
        assert!(matches(nothing, "k=v"));
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    for (selector, told) in [
        ("k=v,", "found the end, expected a label key"),
        (",k", "found ',', expected a label key"),
        ("=v", "found '=', expected a label key"),
        ("!", "found the end, expected a label key"),
        ("!!k", "found '!', expected a label key"),
        ("!k=v", "found '=', expected ',' or the end"),
        ("a b", "found \"b\", expected '='"),
        ("k=v w", "found \"w\", expected ',' or the end"),
        ("k===v", "found '=', expected ',' or the end"),
        ("k in", "found the end, expected '('"),
        ("k in a", "found \"a\", expected '('"),
        ("k in ()", "found ')', expected a value"),
        ("k in (a", "found the end, expected ',' or ')'"),
        ("k in (a b)", "found \"b\", expected ',' or ')'"),
        ("k in (a))", "found ')', expected ',' or the end"),
        ("k in (!a)", "found '!', expected ',' or ')'"),
        ("k>1", "label key \"k>1\""),
        ("a/b/c=d", "label key \"a/b/c\""),
        ("k=-v", "label value \"-v\""),
    ] {
        let error = Selector::parse(selector).unwrap_err();
        assert!(error.starts_with("invalid label selector: "), "{error}");
        assert!(error.contains(told), "{selector}: {error}");
    }
}

/// A term as it is written, and whether it takes these labels, worked out without a parser.
fn naive(kind: u8, key: &str, values: &[&str], on: &BTreeMap<String, String>) -> (String, bool) {
    let value = on.get(key).map(String::as_str);
    let first = values.first().copied().unwrap_or_default();
    let listed = value.is_some_and(|value| values.contains(&value));
    match kind {
        0 => (key.to_owned(), value.is_some()),
        1 => (format!("!{key}"), value.is_none()),
        2 => (format!("{key}={first}"), value == Some(first)),
        3 => (format!("{key} == {first}"), value == Some(first)),
        4 => (format!("{key}!={first}"), value != Some(first)),
        5 => (format!("{key} in ({})", values.join(", ")), listed),
        _ => (format!("{key} notin ({})", values.join(",")), !listed),
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn it_agrees_with_a_naive_reading(
        terms in prop::collection::vec(
            (0..7u8, prop::sample::select(vec!["a", "b", "x/y"]),
             prop::collection::vec(prop::sample::select(vec!["1", "2", "3"]), 1..3)),
            1..4),
        on in prop::collection::btree_map("a|b|x/y", "[1-3]", 0..4),
    ) {
        let read: Vec<_> = terms.iter().map(|(kind, key, values)| naive(*kind, key, values, &on)).collect();
        let text = read.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(",");
        let expected = read.iter().all(|(_, holds)| *holds);
        prop_assert_eq!(Selector::parse(&text).unwrap().matches(&on), expected, "{}", text);
    }

    #[test]
    fn no_text_harms_it(text in "[ab=!(), /in<é]{0,40}|.{0,40}") {
        let _ = Selector::parse(&text);
    }
}
