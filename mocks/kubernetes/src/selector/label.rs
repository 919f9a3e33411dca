//! A label selector, whichever form it came in: requirements that all must hold.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::SelectorError;
use super::name::{key_wrongs, value_wrongs};

/// Labels to match against.
pub(crate) trait Labels {
    fn label(&self, key: &str) -> Option<&str>;
}

impl Labels for BTreeMap<String, String> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).map(String::as_str)
    }
}

/// Pairs sorted by key.
impl<K: AsRef<str>, V: AsRef<str>> Labels for [(K, V)] {
    fn label(&self, key: &str) -> Option<&str> {
        let place = self.binary_search_by(|(own, _)| own.as_ref().cmp(key)).ok()?;
        Some(self[place].1.as_ref())
    }
}

impl Labels for Map<String, Value> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }
}

/// An object `{"key": "value"}`; anything else holds no labels.
impl Labels for Value {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }
}

impl<L: Labels + ?Sized> Labels for &L {
    fn label(&self, key: &str) -> Option<&str> {
        (**self).label(key)
    }
}

impl<L: Labels> Labels for Option<L> {
    fn label(&self, key: &str) -> Option<&str> {
        self.as_ref().and_then(|labels| labels.label(key))
    }
}

/// What labels must be like. Nothing is selected by `nothing()`, everything by a selector without requirements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Selector {
    /// Sorted by key; `None` selects nothing.
    requirements: Option<Vec<Requirement>>,
}

impl Selector {
    pub(crate) fn nothing() -> Self {
        Self { requirements: None }
    }

    pub(crate) fn of(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|left, right| left.key.cmp(&right.key));
        Self { requirements: Some(requirements) }
    }

    /// Whether it selects everything.
    pub(crate) fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    fn requirements(&self) -> &[Requirement] {
        self.requirements.as_deref().unwrap_or_default()
    }

    /// The same with one requirement more. Nothing stays nothing.
    #[must_use]
    pub(crate) fn and(self, requirement: Requirement) -> Self {
        let Some(mut requirements) = self.requirements else { return self };
        requirements.push(requirement);
        Self::of(requirements)
    }

    pub(crate) fn matches(&self, labels: &(impl Labels + ?Sized)) -> bool {
        self.requirements.as_ref().is_some_and(|all| all.iter().all(|one| one.matches(labels)))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, requirement) in self.requirements().iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

/// How a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operator {
    In,
    NotIn,
    Equals,
    DoubleEquals,
    NotEquals,
    Exists,
    DoesNotExist,
    Greater,
    Less,
}

/// What one label must be like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted, each once.
    values: Vec<String>,
}

impl Requirement {
    pub(crate) fn new(key: &str, operator: Operator, mut values: Vec<String>) -> Result<Self, SelectorError> {
        let mut wrongs = Vec::new();
        if let Some(wrong) = invalid("key", key, &key_wrongs(key)) {
            wrongs.push(wrong);
        }
        wrongs.extend(count_wrong(operator, &values));
        for (place, value) in values.iter().enumerate() {
            let numeric = matches!(operator, Operator::Greater | Operator::Less);
            if numeric && value.parse::<i64>().is_err() {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer".to_owned();
                wrongs.extend(invalid(&format!("values[{place}]"), value, &[detail]));
            }
        }
        for (place, value) in values.iter().enumerate() {
            wrongs.extend(invalid(&format!("values[{place}][{key}]"), value, &value_wrongs(value)));
        }
        wrongs.dedup();
        match &wrongs[..] {
            [] => {
                values.sort();
                values.dedup();
                Ok(Self { key: key.to_owned(), operator, values })
            }
            [one] => Err(SelectorError(one.clone())),
            many => Err(SelectorError(format!("[{}]", many.join(", ")))),
        }
    }

    /// The same without looking at the words: the object was admitted, or never will be asked for its name.
    pub(crate) fn trusted(key: &str, operator: Operator, mut values: Vec<String>) -> Self {
        values.sort();
        values.dedup();
        Self { key: key.to_owned(), operator, values }
    }

    pub(crate) fn matches(&self, labels: &(impl Labels + ?Sized)) -> bool {
        let label = labels.label(&self.key);
        let listed = |value: &str| self.values.binary_search_by(|own| own.as_str().cmp(value)).is_ok();
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => label.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !label.is_some_and(listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::Greater => self.compares(label, |own, bound| own > bound),
            Operator::Less => self.compares(label, |own, bound| own < bound),
        }
    }

    fn compares(&self, label: Option<&str>, holds: impl Fn(i64, i64) -> bool) -> bool {
        let number = |text: &str| text.parse::<i64>().ok();
        let bound = if let [one] = &self.values[..] { number(one) } else { None };
        label.and_then(number).zip(bound).is_some_and(|(own, bound)| holds(own, bound))
    }
}

/// Whether there are as many values as the operator wants.
fn count_wrong(operator: Operator, values: &[String]) -> Option<String> {
    let (fits, detail) = match operator {
        Operator::In | Operator::NotIn => {
            (!values.is_empty(), "for 'in', 'notin' operators, values set can't be empty")
        }
        Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => {
            (values.len() == 1, "exact-match compatibility requires one single value")
        }
        Operator::Exists | Operator::DoesNotExist => {
            (values.is_empty(), "values set must be empty for exists and does not exist")
        }
        Operator::Greater | Operator::Less => {
            (values.len() == 1, "for 'Gt', 'Lt' operators, exactly one value is required")
        }
    };
    let shown = if values.is_empty() { "null".to_owned() } else { Value::from(values.to_vec()).to_string() };
    (!fits).then(|| format!("values: Invalid value: {shown}: {detail}"))
}

/// A wrong field in one line, if something is wrong with it.
pub(super) fn invalid(field: &str, value: &str, wrongs: &[String]) -> Option<String> {
    (!wrongs.is_empty()).then(|| format!("{field}: Invalid value: {value:?}: {}", wrongs.join("; ")))
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, operator, values } = self;
        let values = values.join(",");
        match operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Greater => write!(f, "{key}>{values}"),
            Operator::Less => write!(f, "{key}<{values}"),
        }
    }
}
