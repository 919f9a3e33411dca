//! Regular expressions as Go reads them, compiled with the `regex` crate.
//!
//! Both are finite automata with nearly one syntax. What differs is rewritten: in Go `\d`, `\w`, `\s` and `\b` are
//! ASCII, a class has no set operations, `\Q…\E` quotes, and a brace that is no repetition stands for itself.

use std::{iter::Peekable, str::Chars};

use regex::Regex;

/// Compiles a Go pattern.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(&rewrite(pattern)).map_err(|error| error.to_string())
}

fn rewrite(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '\\' => escape(&mut rest, false, &mut out),
            '[' => class(&mut rest, &mut out),
            '{' if !repeats(&rest) => out.push_str("\\{"),
            '}' => out.push_str("\\}"),
            '{' => {
                out.push('{');
                copy_to_brace(&mut rest, &mut out);
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether a brace just read opens a repetition: `{2}`, `{2,}`, `{2,3}`.
fn repeats(rest: &Peekable<Chars<'_>>) -> bool {
    let inside: String = rest.clone().take_while(|&char| char != '}').collect();
    let closed = rest.clone().any(|char| char == '}');
    let (low, high) = inside.split_once(',').unwrap_or((&inside, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    closed && !low.is_empty() && digits(low) && digits(high)
}

fn copy_to_brace(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    for char in rest.by_ref() {
        out.push(char);
        if char == '}' {
            return;
        }
    }
}

fn escape(rest: &mut Peekable<Chars<'_>>, in_class: bool, out: &mut String) {
    let Some(char) = rest.next() else {
        out.push('\\');
        return;
    };
    let (open, close) = if in_class { ("", "") } else { ("[", "]") };
    let mut ascii = |set: &str| [open, set, close].into_iter().for_each(|part| out.push_str(part));
    match char {
        'd' => ascii("0-9"),
        'w' => ascii("0-9A-Za-z_"),
        's' => ascii("\\t\\n\\f\\r\\x20"),
        'D' => out.push_str("[^0-9]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        'S' => out.push_str("[^\\t\\n\\f\\r\\x20]"),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        'Q' if !in_class => quoted(rest, out),
        'p' | 'P' | 'x' if rest.peek() == Some(&'{') => {
            out.push('\\');
            out.push(char);
            copy_to_brace(rest, out);
        }
        other => {
            out.push('\\');
            out.push(other);
        }
    }
}

fn quoted(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let text: String = rest.clone().collect();
    let (quoted, tail) = text.split_once("\\E").map_or((text.as_str(), ""), |(quoted, tail)| (quoted, tail));
    out.push_str(&regex::escape(quoted));
    let skip = text.chars().count() - tail.chars().count();
    rest.by_ref().take(skip).for_each(drop);
}

/// Copies a class whose bracket was just read. Set operations of `regex` are escaped away.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    while let Some(char) = rest.next() {
        match char {
            ']' if first => out.push_str("\\]"),
            ']' => {
                out.push(']');
                return;
            }
            '\\' => escape(rest, true, out),
            '[' if rest.peek() == Some(&':') => named_class(rest, out),
            '[' | '&' | '~' => {
                out.push('\\');
                out.push(char);
            }
            // A dash before the end stands for itself, and two dashes are no subtraction.
            '-' if first || matches!(rest.peek(), Some(']' | '-')) => out.push_str("\\-"),
            other => out.push(other),
        }
        first = false;
    }
}

fn named_class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    for char in rest.by_ref() {
        out.push(char);
        if char == ']' {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn classes_and_escapes_mean_what_they_mean_in_go() {
        let cases = [
            (r"^\d+$", "123", true),
            (r"^\d+$", "١٢", false),
            (r"^[\w.-]+$", "a.b-c_1", true),
            (r"^\w$", "é", false),
            (r"^[a-z&&b]+$", "a&b", true),
            (r"^[[]$", "[", true),
            (r"^[]a]+$", "]a", true),
            (r"^[[:alpha:]-]+$", "a-b", true),
            (r"^a{2,3}$", "aaa", true),
            (r"^a{,3}$", "a{,3}", true),
            (r"^{$", "{", true),
            (r"^\Qa.b\E+$", "a.bb", true),
            (r"^\Qa.b\E+$", "axb", false),
            (r"^\x{41}\p{L}$", "Aß", true),
            (r"^(?i)abc$", "ABC", true),
            (r"^[^\s]+$", "a b", false),
        ];
        for (pattern, text, matches) in cases {
            let regex = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regex.is_match(text), matches, "{pattern} on {text}");
        }
        assert!(compile("(").is_err());
    }
}
