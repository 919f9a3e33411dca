//! A label selector as an object: `matchLabels` and `matchExpressions`. None at all selects nothing, an empty one
//! everything.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde_json::Value;

use super::SelectorError;
use super::label::{Operator, Requirement, Selector};

impl Selector {
    /// From the object as JSON.
    pub(crate) fn from_value(value: &Value) -> Result<Self, SelectorError> {
        if value.is_null() {
            return Ok(Self::nothing());
        }
        let mut requirements = Vec::new();
        let labels = value.get("matchLabels").and_then(Value::as_object);
        for (key, value) in labels.into_iter().flatten() {
            let value = value.as_str().unwrap_or_default().to_owned();
            requirements.push(Requirement::new(key, Operator::Equals, vec![value])?);
        }
        let expressions = value.get("matchExpressions").and_then(Value::as_array);
        for expression in expressions.into_iter().flatten() {
            let text = |field: &str| expression.get(field).and_then(Value::as_str).unwrap_or_default();
            let values = expression.get("values").and_then(Value::as_array);
            let values = values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
            requirements.push(Requirement::new(text("key"), operator(text("operator"))?, values)?);
        }
        Ok(Self::of(requirements))
    }

    /// From the typed object.
    pub(crate) fn from_typed(selector: Option<&LabelSelector>) -> Result<Self, SelectorError> {
        let Some(selector) = selector else { return Ok(Self::nothing()) };
        let mut requirements = Vec::new();
        for (key, value) in selector.match_labels.iter().flatten() {
            requirements.push(Requirement::new(key, Operator::Equals, vec![value.clone()])?);
        }
        for expression in selector.match_expressions.iter().flatten() {
            let values = expression.values.clone().unwrap_or_default();
            requirements.push(Requirement::new(&expression.key, operator(&expression.operator)?, values)?);
        }
        Ok(Self::of(requirements))
    }
}

fn operator(name: &str) -> Result<Operator, SelectorError> {
    match name {
        "In" => Ok(Operator::In),
        "NotIn" => Ok(Operator::NotIn),
        "Exists" => Ok(Operator::Exists),
        "DoesNotExist" => Ok(Operator::DoesNotExist),
        _ => Err(SelectorError(format!("{name:?} is not a valid label selector operator"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let value = json!({"matchLabels": {"b": "1"}, "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["y", "x"]}, {"key": "c", "operator": "DoesNotExist"}]});
        let typed: LabelSelector = serde_json::from_value(value.clone()).unwrap();
        let selector = Selector::from_value(&value).unwrap();
        assert_eq!(selector.to_string(), "a in (x,y),b=1,!c");
        assert_eq!(Selector::from_typed(Some(&typed)).unwrap(), selector);
        assert!(selector.matches(&json!({"a": "x", "b": "1"})));
        assert!(!selector.matches(&json!({"a": "x", "b": "1", "c": ""})));
    }

    #[test]
    fn none_is_nothing_and_empty_is_everything() {
        assert_eq!(Selector::from_value(&Value::Null).unwrap(), Selector::nothing());
        assert_eq!(Selector::from_typed(None).unwrap(), Selector::nothing());
        assert!(Selector::from_value(&json!({})).unwrap().is_everything());
    }

    #[test]
    fn errors_are_upstreams() {
        let told = |value: &Value| Selector::from_value(value).unwrap_err().0;
        let expression = |operator: &str| json!({"matchExpressions": [{"key": "a", "operator": operator}]});
        assert_eq!(told(&expression("in")), "\"in\" is not a valid label selector operator");
        assert_eq!(
            told(&expression("In")),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        );
        assert!(told(&json!({"matchLabels": {"": "x"}})).starts_with("key: Invalid value: \"\": name part"));
    }
}
