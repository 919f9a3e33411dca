//! What a profile writes for what a run decides: `{kubeconfig}`, `{pool.name}`, `{value}`.
//!
//! Only braces around a word of small letters, dots and underscores are a placeholder; JSON within a file is left alone.

use crate::document::{Mistake, Node, Value, meant};

/// What is known everywhere, and what it stands for.
pub(super) const EVERYWHERE: [(&str, &str); 10] = [
    ("kubeconfig", "the file that says how to reach the Kubernetes API"),
    ("cloud", "the endpoint of the cloud's API, with its version"),
    ("token", "the token for it"),
    ("host", "the host name of the replica"),
    ("port", "a free port for its health and its metrics"),
    ("directory", "a directory of its own"),
    ("ca", "a file with the certificate of the door"),
    ("proxy", "the address of the door as a proxy"),
    ("cluster_config", "the pools as the hetzner provider of cluster-autoscaler reads them: JSON, in base64"),
    ("cluster_name", "what the cluster is called"),
];

/// What is known in objects, and is a number there if nothing else stands beside it.
pub(super) const OBJECTS: [&str; 1] = ["network"];

/// What is known where something is repeated for each pool.
pub(super) const POOL: [&str; 5] = ["pool.name", "pool.min", "pool.max", "pool.machine", "pool.location"];

/// What is known where an option or a timer is set.
pub(super) const SETTING: [&str; 4] = ["value", "value.minutes", "value.seconds", "value.share"];

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// As it is written.
    Text(&'a str),
    /// What stands between braces.
    Word(&'a str),
}

/// The pieces of a text, in order.
pub(super) fn pieces(mut text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let word = text[open + 1..].split_once('}').map(|(word, _)| word).filter(|word| is_word(word));
        match word {
            Some(word) => {
                pieces.extend((open > 0).then(|| Piece::Text(&text[..open])));
                pieces.push(Piece::Word(word));
                (text, from) = (&text[open + word.len() + 2..], 0);
            }
            None => from = open + 1,
        }
    }
    pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
    pieces
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || b"._".contains(&byte))
}

/// Every placeholder of a profile that nobody knows where it stands.
pub(super) fn mistakes(tree: &Node) -> Vec<Mistake> {
    let mut found = Vec::new();
    let everywhere = EVERYWHERE.map(|(word, _)| word);
    for (field, also) in [
        ("version_arguments", &[][..]),
        ("arguments", &[]),
        ("environment", &[]),
        ("files", &[]),
        ("pool_arguments", &POOL),
        ("options", &SETTING),
        ("timer_arguments", &SETTING),
        ("timer_environment", &SETTING),
    ] {
        if let Some(node) = tree.get(field) {
            within(node, &[&everywhere, also].concat(), &mut found);
        }
    }
    // Objects are made before any replica is.
    if let Some(node) = tree.get("objects") {
        within(node, &OBJECTS, &mut found);
    }
    found
}

fn within(node: &Node, words: &[&str], found: &mut Vec<Mistake>) {
    match &node.value {
        Value::Text(text) => {
            for piece in pieces(text) {
                if let Piece::Word(word) = piece
                    && !words.contains(&word)
                {
                    let what = format!("nothing is known of `{{{word}}}` here");
                    found.push(Mistake::at(node.place, what).hint(meant(word, words.iter().copied())));
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| within(item, words, found)),
        Value::Map(entries) => entries.iter().for_each(|entry| within(&entry.node, words, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::Piece::{Text, Word};
    use super::*;

    #[test]
    fn only_words_between_braces_are_placeholders() {
        assert_eq!(
            pieces("--nodes={pool.min}:{pool.max}"),
            [Text("--nodes="), Word("pool.min"), Text(":"), Word("pool.max")]
        );
        assert_eq!(pieces(r#"{"a": {}} {{port}"#), [Text(r#"{"a": {}} {"#), Word("port")]);
        for text in ["", "{", "}", "{}", "{A}", "{a b}", "ä{ö}"] {
            assert!(pieces(text).iter().all(|piece| matches!(piece, Text(_))), "{text}");
        }
    }
}
