//! Selectors over labels: of budgets, of affinities, of anti-affinities.

use std::collections::BTreeMap;

/// Requirements that must all be met. None at all match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector(pub(crate) Vec<Requirement>);

impl Selector {
    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| requirement.holds(labels))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) key: String,
    pub(crate) operator: Operator,
    pub(crate) values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    In,
    NotIn,
    Exists,
    Missing,
    Above,
    Below,
    /// One that is not known here; nothing meets it.
    Unknown,
}

impl Operator {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::Missing,
            "Gt" => Operator::Above,
            "Lt" => Operator::Below,
            _ => Operator::Unknown,
        }
    }
}

impl Requirement {
    pub(crate) fn is(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), operator: Operator::In, values: vec![value.to_owned()] }
    }

    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        let listed = || value.is_some_and(|value| self.values.contains(value));
        let compared = |compare: fn(&i64, &i64) -> bool| {
            let there = value.and_then(|value| value.parse().ok());
            let asked = self.values.first().and_then(|value| value.parse().ok());
            there.zip(asked).is_some_and(|(there, asked)| compare(&there, &asked))
        };
        match self.operator {
            Operator::In => listed(),
            Operator::NotIn => !listed(),
            Operator::Exists => value.is_some(),
            Operator::Missing => value.is_none(),
            Operator::Above => compared(i64::gt),
            Operator::Below => compared(i64::lt),
            Operator::Unknown => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_means_what_it_does_in_kubernetes() {
        let labels = [("a".to_owned(), "1".to_owned())].into();
        let holds = |key: &str, operator: &str, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            Requirement { key: key.to_owned(), operator: Operator::named(operator), values }.holds(&labels)
        };
        assert!(holds("a", "In", &["0", "1"]) && !holds("b", "In", &["1"]));
        assert!(holds("b", "NotIn", &["1"]) && !holds("a", "NotIn", &["1"]));
        assert!(holds("a", "Exists", &[]) && !holds("b", "Exists", &[]));
        assert!(holds("b", "DoesNotExist", &[]) && !holds("a", "DoesNotExist", &[]));
        assert!(holds("a", "Gt", &["0"]) && !holds("a", "Gt", &["1"]) && holds("a", "Lt", &["2"]));
        assert!(!holds("a", "Like", &["1"]));
    }
}
