//! What is wrong with a text that is no JSON, in the words of Go's reader.
//!
//! Only asked once another reader has refused the text; it makes no values.

/// As deep as Go's reader goes.
const DEPTH: usize = 10_000;

/// The sentence about the first mistake, if there is one.
pub(super) fn mistake(text: &[u8]) -> Option<String> {
    let mut scan = Scan { text, at: 0 };
    scan.document().err().map(|wrong| match wrong {
        Wrong::End => "unexpected end of JSON input".to_owned(),
        Wrong::Depth => "exceeded max depth".to_owned(),
        Wrong::Byte(byte, place) => format!("invalid character {} {place}", quoted(byte)),
    })
}

enum Wrong {
    End,
    Depth,
    Byte(u8, String),
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

/// What may follow inside an open object or array.
#[derive(Clone, Copy)]
enum Open {
    Object,
    Array,
}

impl Scan<'_> {
    /// Without recursion, since the text may be nested as deep as it is long.
    fn document(&mut self) -> Result<(), Wrong> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            if self.value(&mut open)? {
                continue;
            }
            loop {
                let byte = self.skip();
                match (open.last(), byte) {
                    (None, None) => return Ok(()),
                    (None, Some(byte)) => return Err(Wrong::Byte(byte, "after top-level value".to_owned())),
                    (Some(_), None) => return Err(Wrong::End),
                    (Some(Open::Object), Some(b',')) => {
                        self.at += 1;
                        self.key(false)?;
                        break;
                    }
                    (Some(Open::Array), Some(b',')) => {
                        self.at += 1;
                        break;
                    }
                    (Some(Open::Object), Some(b'}')) | (Some(Open::Array), Some(b']')) => {
                        self.at += 1;
                        open.pop();
                    }
                    (Some(Open::Object), Some(byte)) => {
                        return Err(Wrong::Byte(byte, "after object key:value pair".to_owned()));
                    }
                    (Some(Open::Array), Some(byte)) => {
                        return Err(Wrong::Byte(byte, "after array element".to_owned()));
                    }
                }
            }
        }
    }

    /// Whether a value must follow, because one that holds values was opened.
    fn value(&mut self, open: &mut Vec<Open>) -> Result<bool, Wrong> {
        let byte = self.skip().ok_or(Wrong::End)?;
        self.at += 1;
        if matches!(byte, b'{' | b'[') && open.len() >= DEPTH {
            return Err(Wrong::Depth);
        }
        match byte {
            b'{' => {
                open.push(Open::Object);
                self.key(true)
            }
            b'[' => {
                open.push(Open::Array);
                Ok(self.skip() != Some(b']'))
            }
            b'"' => self.string().map(|()| false),
            b'-' | b'0'..=b'9' => self.number(byte).map(|()| false),
            b't' => self.word("true").map(|()| false),
            b'f' => self.word("false").map(|()| false),
            b'n' => self.word("null").map(|()| false),
            _ => Err(Wrong::Byte(byte, "looking for beginning of value".to_owned())),
        }
    }

    /// Reads a key and its colon; only the first may be missing.
    fn key(&mut self, first: bool) -> Result<bool, Wrong> {
        match self.skip().ok_or(Wrong::End)? {
            b'}' if first => return Ok(false),
            b'"' => self.at += 1,
            byte => return Err(Wrong::Byte(byte, "looking for beginning of object key string".to_owned())),
        }
        self.string()?;
        match self.skip().ok_or(Wrong::End)? {
            b':' => self.at += 1,
            byte => return Err(Wrong::Byte(byte, "after object key".to_owned())),
        }
        Ok(true)
    }

    fn string(&mut self) -> Result<(), Wrong> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                byte if byte < b' ' => return Err(Wrong::Byte(byte, "in string literal".to_owned())),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let byte = self.next()?;
                    if !byte.is_ascii_hexdigit() {
                        let place = "in \\u hexadecimal character escape";
                        return Err(Wrong::Byte(byte, place.to_owned()));
                    }
                }
                Ok(())
            }
            byte => Err(Wrong::Byte(byte, "in string escape code".to_owned())),
        }
    }

    fn number(&mut self, mut first: u8) -> Result<(), Wrong> {
        if first == b'-' {
            first = self.digit("in numeric literal")?;
        }
        if first != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, place: &str) -> Result<u8, Wrong> {
        let byte = self.next()?;
        if byte.is_ascii_digit() { Ok(byte) } else { Err(Wrong::Byte(byte, place.to_owned())) }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Wrong> {
        for expected in word.bytes().skip(1) {
            let byte = self.next()?;
            if byte != expected {
                let place = format!("in literal {word} (expecting {})", quoted(expected));
                return Err(Wrong::Byte(byte, place));
            }
        }
        Ok(())
    }

    fn skip(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Result<u8, Wrong> {
        let byte = self.peek().ok_or(Wrong::End)?;
        self.at += 1;
        Ok(byte)
    }
}

/// A byte as Go quotes a character.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        b'\n' => r"'\n'".to_owned(),
        b'\r' => r"'\r'".to_owned(),
        b'\t' => r"'\t'".to_owned(),
        0..b' ' | 0x7f => format!(r"'\x{byte:02x}'"),
        0x80..=0x9f => format!(r"'\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::mistake;

    #[test]
    fn mistakes_are_told_as_go_tells_them() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("{\"a\":1", "unexpected end of JSON input"),
            ("{not", "invalid character 'n' looking for beginning of object key string"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("{\"a\":}", "invalid character '}' looking for beginning of value"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("tru!", "invalid character '!' in literal true (expecting 'e')"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("-a", "invalid character 'a' in numeric literal"),
        ];
        for (text, expected) in cases {
            assert_eq!(mistake(text.as_bytes()).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(mistake(b"{\"a\":[1,-2.5e3,true,null,{}],\"b\":{}} "), None);
    }

    proptest::proptest! {
        #[test]
        fn only_what_is_no_json_is_wrong(text in r#"[\[\]{}",:0-9a-e.\\ -]{0,20}"#) {
            let read = serde_json::from_str::<serde_json::Value>(&text);
            // Numbers may be too large for a value and still be JSON.
            if read.is_ok() || !read.is_err_and(|error| error.to_string().contains("out of range")) {
                let valid = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
                proptest::prop_assert_eq!(mistake(text.as_bytes()).is_none(), valid);
            }
        }
    }
}
