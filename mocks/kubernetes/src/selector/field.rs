//! Field selectors: `spec.nodeName=a,status.phase!=Failed`. Which fields a resource knows is the caller's knowledge.

use std::fmt;
use std::str::FromStr;

use super::SelectorError;

/// Fields that must have, or must not have, a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    field: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// The fields it asks for.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.field.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value `field` must have, if it must have one.
    pub(crate) fn exact(&self, field: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.equal && term.field == field).map(|term| term.value.as_str())
    }

    /// Whether an object matches; `get` gives a field's value, and what it does not know counts as empty.
    pub(crate) fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.terms.iter().all(|term| (get(&term.field).unwrap_or_default() == term.value) == term.equal)
    }
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut parts = split(text);
        parts.sort_unstable();
        let mut terms = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let unclear = || SelectorError(format!("invalid selector: '{text}'; can't understand '{part}'"));
            let (place, operator) = operator(part).ok_or_else(unclear)?;
            let value = unescaped(&part[place + operator.len()..])?;
            // A term that says nothing asks for nothing.
            if place > 0 || !value.is_empty() {
                terms.push(Term { field: part[..place].to_owned(), equal: operator != "!=", value });
            }
        }
        Ok(Self { terms })
    }
}

/// The first operator, and where it stands.
fn operator(term: &str) -> Option<(usize, &'static str)> {
    term.char_indices().find_map(|(place, _)| {
        let found = ["!=", "==", "="].into_iter().find(|operator| term[place..].starts_with(operator));
        found.map(|operator| (place, operator))
    })
}

/// The terms between commas that are not escaped.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (place, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unescaped(text: &str) -> Result<String, SelectorError> {
    let wrong = |what: String| SelectorError(format!("invalid field selector: {what}"));
    let mut value = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(letter @ ('\\' | ',' | '=')) => value.push(letter),
                Some(letter) => return Err(wrong(format!("invalid escape sequence: \\{letter}"))),
                None => return Err(wrong("invalid escape sequence: \\".to_owned())),
            },
            ',' | '=' => return Err(wrong(format!("unescaped character in value: {}", u32::from(letter)))),
            _ => value.push(letter),
        }
    }
    Ok(value)
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, term) in self.terms.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let operator = if term.equal { "=" } else { "!=" };
            write!(f, "{comma}{}{operator}", term.field)?;
            for letter in term.value.chars() {
                let escape = if ['\\', ',', '='].contains(&letter) { "\\" } else { "" };
                write!(f, "{escape}{letter}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn selector(text: &str) -> FieldSelector {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn matches_what_it_names() {
        let drain = selector("spec.nodeName=node1,status.phase!=Succeeded,status.phase!=Failed");
        let pod = |phase: &'static str| {
            move |field: &str| match field {
                "spec.nodeName" => Some("node1"),
                "status.phase" => Some(phase),
                _ => None,
            }
        };
        assert!(drain.matches(pod("Running")));
        assert!(!drain.matches(pod("Failed")));
        assert!(selector("").matches(pod("Failed")));
        assert!(selector("status.nominatedNodeName=").matches(pod("Failed")));
        assert_eq!(drain.exact("spec.nodeName"), Some("node1"));
        assert_eq!(drain.exact("status.phase"), None);
    }

    #[test]
    fn escapes_are_undone_and_made() {
        let escaped = selector(r"a=x\,y\=z\\,b==1,");
        assert!(escaped.matches(|field| Some(if field == "a" { r"x,y=z\" } else { "1" })));
        assert_eq!(escaped.to_string(), r"a=x\,y\=z\\,b=1");
    }

    #[test]
    fn errors_are_upstreams() {
        let told = |text: &str| text.parse::<FieldSelector>().unwrap_err().0;
        assert_eq!(told("a=b,c"), "invalid selector: 'a=b,c'; can't understand 'c'");
        assert_eq!(told(r"a=b\x"), r"invalid field selector: invalid escape sequence: \x");
        assert_eq!(told(r"a=b\"), r"invalid field selector: invalid escape sequence: \");
        assert_eq!(told("a=b=c"), "invalid field selector: unescaped character in value: 61");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(text in "[a-c.,=!\\\\é]{0,16}|\\PC{0,12}") {
            if let Ok(selector) = text.parse::<FieldSelector>() {
                let mut again: FieldSelector = selector.to_string().parse().unwrap();
                let mut terms = selector.terms;
                terms.sort();
                again.terms.sort();
                prop_assert_eq!(again.terms, terms);
            }
        }
    }
}
