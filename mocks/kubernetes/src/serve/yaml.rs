//! Values as YAML, laid out as a real server lays it out.

use serde_json::Value;

/// Longer lines are folded where they have a space.
const WIDTH: usize = 80;

/// One document.
pub(super) fn write(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => object(&mut text, value, 0),
        Value::Array(list) if !list.is_empty() => array(&mut text, value, 0),
        other => {
            text.push_str(&scalar(other, 0, 0));
            text.push('\n');
        }
    }
    text
}

fn object(text: &mut String, value: &Value, indent: usize) {
    for (index, (key, child)) in value.as_object().into_iter().flatten().enumerate() {
        if index > 0 {
            text.push_str(&" ".repeat(indent));
        }
        let key = string(key, usize::MAX, 0);
        text.push_str(&key);
        text.push(':');
        match child {
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                text.push_str(&" ".repeat(indent + 2));
                object(text, child, indent + 2);
            }
            // Lists stand no deeper than their key.
            Value::Array(list) if !list.is_empty() => {
                text.push('\n');
                text.push_str(&" ".repeat(indent));
                array(text, child, indent);
            }
            other => {
                text.push(' ');
                text.push_str(&scalar(other, indent + key.len() + 2, indent + 2));
                text.push('\n');
            }
        }
    }
}

fn array(text: &mut String, value: &Value, indent: usize) {
    for (index, child) in value.as_array().into_iter().flatten().enumerate() {
        if index > 0 {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str("- ");
        match child {
            Value::Object(map) if !map.is_empty() => object(text, child, indent + 2),
            Value::Array(list) if !list.is_empty() => array(text, child, indent + 2),
            other => {
                text.push_str(&scalar(other, indent + 2, indent + 2));
                text.push('\n');
            }
        }
    }
}

/// Everything that stands on one line, if it is not folded.
fn scalar(value: &Value, column: usize, indent: usize) -> String {
    match value {
        Value::String(text) => string(text, column, indent),
        other => other.to_string(),
    }
}

fn string(text: &str, column: usize, indent: usize) -> String {
    let only_lines = !text.chars().any(|c| c != '\n' && c.is_control());
    if text.contains('\n') && only_lines && !text.starts_with([' ', '\n']) {
        return literal(text, indent);
    }
    if text.chars().any(char::is_control) || means_something_else(text) {
        // JSON's quotes are YAML's double quotes.
        return Value::from(text).to_string();
    }
    if is_plain(text) {
        return folded(text, column, indent);
    }
    format!("'{}'", folded(&text.replace('\'', "''"), column.saturating_add(1), indent))
}

fn literal(text: &str, indent: usize) -> String {
    let end = match text.len() - text.trim_end_matches('\n').len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut out = format!("|{end}");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
    }
    out
}

/// Whether a reader would take the text for no text.
fn means_something_else(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    let words = ["", "~", "null", "true", "false", "y", "n", "yes", "no", "on", "off", "<<", "="];
    let number = word.trim_start_matches(['+', '-']);
    let numeric = number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && (number.replace('_', "").parse::<f64>().is_ok()
            || ["0x", "0o", "0b"].iter().any(|prefix| number.starts_with(prefix)));
    let time = text.len() >= 8
        && text.as_bytes().get(4) == Some(&b'-')
        && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    words.contains(&word.as_str()) || numeric || time || [".inf", ".nan"].contains(&number)
}

fn is_plain(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes.next().unwrap_or(b' ');
    let second = bytes.next().unwrap_or(b' ');
    let starts = match first {
        b'-' | b'?' | b':' => second != b' ',
        _ => !b" ,[]{}#&*!|>'\"%@`".contains(&first),
    };
    // Three of them begin or end a document.
    let marks = text.starts_with("---") || text.starts_with("...");
    starts && !marks && !text.ends_with([' ', ':']) && !text.contains(": ") && !text.contains(" #")
}

/// A line is broken at the first single space beyond the width.
fn folded(text: &str, column: usize, indent: usize) -> String {
    if column == usize::MAX {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut column = column;
    let mut after_space = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let single = c == ' ' && !after_space && chars.peek().is_some_and(|next| *next != ' ');
        after_space = c == ' ';
        if single && column > WIDTH && !out.is_empty() {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            out.push(c);
            column += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::write;

    #[test]
    fn it_is_laid_out_as_upstream_does() {
        let value = json!({
            "kind": "Status", "empty": {}, "none": [], "number": 5, "text": "5", "yes": "true",
            "list": [{"a": 1, "b": ["x"]}, "y"], "message": "a: b", "lines": "a\nb\n",
        });
        let expected = "empty: {}\nkind: Status\nlines: |\n  a\n  b\nlist:\n- a: 1\n  b:\n  - x\n- \"y\"\nmessage: 'a: b'\n\
                        none: []\nnumber: 5\ntext: \"5\"\n\"yes\": \"true\"\n";
        assert_eq!(write(&value), expected);
    }

    proptest::proptest! {
        #[test]
        fn it_can_be_read_again(text in "[ -~äß\n]{0,120}", key in "[a-z:#. -]{1,8}") {
            let value = json!({ &key: [{"deep": &text}, &text] });
            let read: Value = serde_yaml::from_str(&write(&value)).unwrap();
            proptest::prop_assert_eq!(read, value);
        }
    }
}
