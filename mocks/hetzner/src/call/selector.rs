//! The query language for labels: `env=production,type!=database,zone in (a,b),!old`.
//!
//! Stands behind `?label_selector=` of every list, and behind the firewalls and load balancers that find their
//! servers by label. All terms must hold. An object that lacks the key satisfies `!=` and `notin`, as in
//! Kubernetes; that the real API agrees is assumed. What Kubernetes has beyond this (`<`, `>`) is refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::labels;

/// A label selector, read and checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Has(String),
    Lacks(String),
    In(String, BTreeSet<String>),
    NotIn(String, BTreeSet<String>),
}

impl Selector {
    /// Reads a selector; the empty one matches everything. The error is a sentence for the one who asked.
    pub(crate) fn parse(text: &str) -> Result<Selector, String> {
        let tokens = tokens(text);
        let mut rest = Rest { tokens: &tokens };
        let mut terms = Vec::new();
        if rest.peek().is_none() {
            return Ok(Selector { terms });
        }
        loop {
            terms.push(rest.term()?);
            match rest.next() {
                None => return Ok(Selector { terms }),
                Some(Token::Comma) => {}
                Some(token) => return Err(unexpected(Some(token), "',' or the end")),
            }
        }
    }

    /// Whether an object with these labels is meant.
    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Has(key) => labels.contains_key(key),
            Term::Lacks(key) => !labels.contains_key(key),
            Term::In(key, values) => labels.get(key).is_some_and(|value| values.contains(value)),
            Term::NotIn(key, values) => !labels.get(key).is_some_and(|value| values.contains(value)),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Equal,
    NotEqual,
    Not,
    Open,
    Close,
    Comma,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let signs = [
            ("==", Token::Equal),
            ("=", Token::Equal),
            ("!=", Token::NotEqual),
            ("!", Token::Not),
            ("(", Token::Open),
            (")", Token::Close),
            (",", Token::Comma),
        ];
        let sign = signs.iter().find_map(|(sign, token)| Some((*token, rest.strip_prefix(sign)?)));
        let (token, after) = sign.unwrap_or_else(|| {
            let ends = |letter: char| letter.is_whitespace() || "=!(),".contains(letter);
            let (word, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
            (Token::Word(word), after)
        });
        found.push(token);
        rest = after.trim_start();
    }
    found
}

/// The tokens still to be read.
struct Rest<'t, 'a> {
    tokens: &'t [Token<'a>],
}

impl<'a> Rest<'_, 'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.first().copied()
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn term(&mut self) -> Result<Term, String> {
        if self.peek() == Some(Token::Not) {
            self.next();
            return Ok(Term::Lacks(self.key()?));
        }
        let key = self.key()?;
        match self.peek() {
            None | Some(Token::Comma) => Ok(Term::Has(key)),
            Some(Token::Equal) => Ok(Term::In(key, self.one_value()?)),
            Some(Token::NotEqual) => Ok(Term::NotIn(key, self.one_value()?)),
            Some(Token::Word("in")) => Ok(Term::In(key, self.values()?)),
            Some(Token::Word("notin")) => Ok(Term::NotIn(key, self.values()?)),
            Some(token) => Err(unexpected(Some(token), "'=', '==', '!=', 'in', 'notin', ',' or the end")),
        }
    }

    fn key(&mut self) -> Result<String, String> {
        match self.next() {
            Some(Token::Word(key)) => match labels::key_mistake(key) {
                None => Ok(key.to_owned()),
                Some(mistake) => Err(format!("invalid label selector: {mistake}")),
            },
            token => Err(unexpected(token, "a label key")),
        }
    }

    /// What stands at this place as a value; nothing at all is the empty value.
    fn value(&mut self) -> Result<String, String> {
        let Some(Token::Word(value)) = self.peek() else { return Ok(String::new()) };
        self.next();
        match labels::value_mistake(value) {
            None => Ok(value.to_owned()),
            Some(mistake) => Err(format!("invalid label selector: {mistake}")),
        }
    }

    fn one_value(&mut self) -> Result<BTreeSet<String>, String> {
        self.next();
        Ok(BTreeSet::from([self.value()?]))
    }

    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        self.next();
        match self.next() {
            Some(Token::Open) => {}
            token => return Err(unexpected(token, "'('")),
        }
        if self.peek() == Some(Token::Close) {
            return Err(unexpected(Some(Token::Close), "a value"));
        }
        let mut values = BTreeSet::new();
        loop {
            values.insert(self.value()?);
            match self.next() {
                Some(Token::Comma) => {}
                Some(Token::Close) => return Ok(values),
                token => return Err(unexpected(token, "',' or ')'")),
            }
        }
    }
}

fn unexpected(token: Option<Token<'_>>, wanted: &str) -> String {
    let found = match token {
        None => "the end".to_owned(),
        Some(Token::Word(word)) => labels::shown(word),
        Some(Token::Equal) => "'='".to_owned(),
        Some(Token::NotEqual) => "'!='".to_owned(),
        Some(Token::Not) => "'!'".to_owned(),
        Some(Token::Open) => "'('".to_owned(),
        Some(Token::Close) => "')'".to_owned(),
        Some(Token::Comma) => "','".to_owned(),
    };
    format!("invalid label selector: found {found}, expected {wanted}")
}

#[cfg(test)]
mod tests;
