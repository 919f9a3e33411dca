//! A label selector as a query string: `a=b,c!=d,e in (x,y),!f,g`.

use std::str::FromStr;

use super::SelectorError;
use super::label::{Operator, Requirement, Selector, invalid};
use super::name::key_wrongs;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    End,
    Close,
    Comma,
    Not,
    DoubleEquals,
    Equals,
    Greater,
    Word,
    In,
    Less,
    NotEquals,
    NotIn,
    Open,
}

fn keyword(text: &str) -> Option<Token> {
    Some(match text {
        ")" => Token::Close,
        "," => Token::Comma,
        "!" => Token::Not,
        "==" => Token::DoubleEquals,
        "=" => Token::Equals,
        ">" => Token::Greater,
        "in" => Token::In,
        "<" => Token::Less,
        "!=" => Token::NotEquals,
        "notin" => Token::NotIn,
        "(" => Token::Open,
        _ => return None,
    })
}

fn special(letter: char) -> bool {
    "=!(),><".contains(letter)
}

/// The tokens of `text`, up to the end or a zero byte, which counts as one.
fn tokens(text: &str) -> Vec<(Token, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let length = match rest.chars().next() {
            None | Some('\0') => return found,
            Some(letter) if special(letter) => symbol(rest),
            Some(_) => {
                rest.find(|letter| special(letter) || " \t\r\n\0".contains(letter)).unwrap_or(rest.len())
            }
        };
        let (word, after) = rest.split_at(length);
        found.push((keyword(word).unwrap_or(Token::Word), word));
        rest = after.strip_prefix('\0').unwrap_or(after);
    }
}

/// The length of the longest operator at the start.
fn symbol(text: &str) -> usize {
    if text.starts_with("==") || text.starts_with("!=") { 2 } else { 1 }
}

struct Parser<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<(Token, &'a str)>>,
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Parser { tokens: tokens(text).into_iter().peekable() }.selector().map_err(SelectorError)
    }
}

impl<'a> Parser<'a> {
    /// The next token, left where it is. In the place of a value `in` and `notin` are words.
    fn peek(&mut self) -> (Token, &'a str) {
        let (token, word) = self.tokens.peek().copied().unwrap_or((Token::End, ""));
        (if matches!(token, Token::In | Token::NotIn) { Token::Word } else { token }, word)
    }

    fn take(&mut self) -> (Token, &'a str) {
        let next = self.peek();
        self.tokens.next();
        next
    }

    fn selector(mut self) -> Result<Selector, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                (Token::Word | Token::Not, _) => {}
                (Token::End, _) => break,
                (_, word) => {
                    return Err(format!("found '{word}', expected: !, identifier, or 'end of string'"));
                }
            }
            let requirement = self.requirement();
            requirements.push(requirement.map_err(|error| format!("unable to parse requirement: {error}"))?);
            match self.take() {
                (Token::End, _) => break,
                (Token::Comma, _) => {
                    let (token, word) = self.peek();
                    if !matches!(token, Token::Word | Token::Not) {
                        return Err(format!("found '{word}', expected: identifier after ','"));
                    }
                }
                (_, word) => return Err(format!("found '{word}', expected: ',' or 'end of string'")),
            }
        }
        Ok(Selector::of(requirements))
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let (mut token, mut key) = self.take();
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.take();
        }
        if token != Token::Word {
            return Err(format!("found '{key}', expected: identifier"));
        }
        if let Some(wrong) = invalid("<nil>", key, &key_wrongs(key)) {
            return Err(wrong);
        }
        let (operator, values) = if negated {
            (Operator::DoesNotExist, Vec::new())
        } else if matches!(self.peek().0, Token::End | Token::Comma) {
            (Operator::Exists, Vec::new())
        } else {
            let operator = self.operator()?;
            let set = matches!(operator, Operator::In | Operator::NotIn);
            (operator, if set { self.values()? } else { vec![self.value()?] })
        };
        Requirement::new(key, operator, values).map_err(|error| error.0)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        let (token, word) = self.tokens.next().unwrap_or((Token::End, ""));
        Ok(match token {
            Token::In => Operator::In,
            Token::NotIn => Operator::NotIn,
            Token::Equals => Operator::Equals,
            Token::DoubleEquals => Operator::DoubleEquals,
            Token::NotEquals => Operator::NotEquals,
            Token::Greater => Operator::Greater,
            Token::Less => Operator::Less,
            _ => return Err(format!("found '{word}', expected: in, notin, =, ==, !=, gt, lt")),
        })
    }

    fn value(&mut self) -> Result<String, String> {
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok(String::new());
        }
        match self.take() {
            (Token::Word, word) => Ok(word.to_owned()),
            (_, word) => Err(format!("found '{word}', expected: identifier")),
        }
    }

    /// `(x,y)`, with nothing between two commas meaning the empty value.
    fn values(&mut self) -> Result<Vec<String>, String> {
        let (token, word) = self.take();
        if token != Token::Open {
            return Err(format!("found '{word}' expected: '('"));
        }
        let (token, word) = self.peek();
        if !matches!(token, Token::Word | Token::Comma | Token::Close) {
            return Err(format!("found '{word}', expected: ',', ')' or identifier"));
        }
        let mut values = Vec::new();
        let mut word_is_due = true;
        loop {
            match self.take() {
                (Token::Word, word) if word_is_due => {
                    values.push(word.to_owned());
                    word_is_due = false;
                }
                (Token::Comma, _) => {
                    if word_is_due {
                        values.push(String::new());
                    }
                    word_is_due = true;
                }
                (Token::Close, _) => {
                    if word_is_due {
                        values.push(String::new());
                    }
                    values.sort();
                    values.dedup();
                    return Ok(values);
                }
                (_, word) if word_is_due => {
                    return Err(format!("found '{word}', expected: ',', or identifier"));
                }
                (_, word) => return Err(format!("found '{word}', expected: ',' or ')'")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn selector(text: &str) -> Selector {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn labels(text: &str) -> BTreeMap<String, String> {
        let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        text.split(',').filter_map(pair).collect()
    }

    #[test]
    fn prints_sorted_and_plain() {
        for (text, printed) in [
            ("", ""),
            ("x=a,y=b,z=c", "x=a,y=b,z=c"),
            ("z == c , x", "x,z==c"),
            ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
            ("!a,b!=,c>1,d<2", "!a,b!=,c>1,d<2"),
            ("in in (in, notin)", "in in (in,notin)"),
            ("x in (,)", "x in ()"),
            ("x=,y", "x=,y"),
        ] {
            assert_eq!(selector(text).to_string(), printed, "{text}");
        }
    }

    #[test]
    fn matches_as_upstream() {
        for (text, on, expected) in [
            ("", "x=y", true),
            ("x=y", "x=y", true),
            ("x==y", "x=z", false),
            ("x!=y", "", true),
            ("x!=y", "x=y", false),
            ("x in (a,b)", "x=b", true),
            ("x in (a,b)", "", false),
            ("x notin (a,b)", "", true),
            ("x", "x=", true),
            ("!x", "x=", false),
            ("x>1", "x=2", true),
            ("x>1", "x=two", false),
            ("x<7", "x=6", true),
            ("x=", "", false),
            ("x=a,y=b", "x=a,y=c", false),
        ] {
            assert_eq!(selector(text).matches(&labels(on)), expected, "{text} on {on}");
        }
        assert!(!Selector::nothing().matches(&labels("x=y")));
    }

    #[test]
    fn errors_are_upstreams() {
        let told = |text: &str| text.parse::<Selector>().unwrap_err().0;
        assert_eq!(told("x=a||y=b").split(": ").next(), Some("unable to parse requirement"));
        assert_eq!(told("x,"), "found '', expected: identifier after ','");
        assert_eq!(told(",x"), "found ',', expected: !, identifier, or 'end of string'");
        assert_eq!(
            told("x y"),
            "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"
        );
        assert_eq!(told("!x=a"), "found '=', expected: ',' or 'end of string'");
        assert_eq!(told("x in a"), "unable to parse requirement: found 'a' expected: '('");
        assert_eq!(told("x in (a"), "unable to parse requirement: found '', expected: ',' or ')'");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-a-c ,!=()<>/.\\x00]{0,24}|\\PC{0,16}") {
            if let Ok(selector) = text.parse::<Selector>() {
                let again: Selector = selector.to_string().parse().unwrap();
                prop_assert_eq!(again, selector);
            }
        }

        #[test]
        fn what_is_printed_is_read_again(
            key in "([a-c]{1,3}/)?[a-c]{1,2}", operator in 0usize..9,
            values in proptest::collection::vec("([a-z0-9][a-z0-9._-]{0,3}[a-z0-9])?", 1..4),
            number: u32,
        ) {
            use Operator::{DoesNotExist, DoubleEquals, Equals, Exists, Greater, In, Less, NotEquals, NotIn};
            let operators = [In, NotIn, Equals, DoubleEquals, NotEquals, Exists, DoesNotExist, Greater, Less];
            let operator = operators[operator];
            let values = match operator {
                In | NotIn => values,
                Exists | DoesNotExist => Vec::new(),
                Greater | Less => vec![number.to_string()],
                _ => values[..1].to_vec(),
            };
            let selector = Selector::of(vec![Requirement::new(&key, operator, values).unwrap()]);
            prop_assert_eq!(selector.to_string().parse::<Selector>().unwrap(), selector);
        }
    }
}
