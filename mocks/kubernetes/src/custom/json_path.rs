//! The part of `JSONPath` that printer columns use.
//!
//! `.a.b`, `['a.b']`, `\.` in names, `[0]`, `[-1]`, `[*]`, `.*`, and filters of one comparison such as
//! `[?(@.type=="Ready")]`. Nothing else: a path with slices, unions or recursion finds nothing.

use serde_json::Value;

/// A path, ready to be followed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    Filter { path: Vec<Step>, operator: String, with: Value },
}

impl JsonPath {
    /// `None` if it uses what is not supported here.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.trim().trim_start_matches('$');
        while !rest.is_empty() {
            let (step, tail) = step(rest)?;
            steps.extend(step);
            rest = tail;
        }
        Some(Self { steps })
    }

    /// Everything that it finds.
    pub(crate) fn find<'a>(&self, object: &'a Value) -> Vec<&'a Value> {
        follow(object, &self.steps)
    }
}

/// The first step of a text, and the rest of it.
fn step(text: &str) -> Option<(Option<Step>, &str)> {
    if let Some(inside) = text.strip_prefix('[') {
        return bracket(inside).map(|(step, rest)| (Some(step), rest));
    }
    let text = text.strip_prefix('.').unwrap_or(text);
    let mut name = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => name.extend(chars.next().map(|(_, char)| char)),
            '.' | '[' => {
                end = at;
                break;
            }
            other => name.push(other),
        }
    }
    let step = match name.as_str() {
        "" if end < text.len() && text[end..].starts_with('.') => return None,
        "" => None,
        "*" => Some(Step::All),
        _ => Some(Step::Field(name)),
    };
    Some((step, &text[end..]))
}

fn bracket(inside: &str) -> Option<(Step, &str)> {
    if let Some(filter) = inside.strip_prefix("?(") {
        let (condition, rest) = filter.split_once(")]")?;
        return Some((self::filter(condition)?, rest));
    }
    for quote in ['\'', '"'] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (name, rest) = quoted.split_once(&format!("{quote}]"))?;
            return Some((Step::Field(name.replace('\\', "")), rest));
        }
    }
    let (index, rest) = inside.split_once(']')?;
    let step = if index == "*" { Step::All } else { Step::Index(index.parse().ok()?) };
    Some((step, rest))
}

fn filter(condition: &str) -> Option<Step> {
    let operator =
        ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|operator| condition.contains(operator))?;
    let (left, right) = condition.split_once(operator)?;
    let path = JsonPath::parse(left.trim().strip_prefix('@')?)?.steps;
    let right = right.trim();
    let quoted = right.strip_prefix(['\'', '"']).and_then(|text| text.strip_suffix(['\'', '"']));
    let with = quoted.map_or_else(|| serde_json::from_str(right).ok(), |text| Some(Value::from(text)))?;
    Some(Step::Filter { path, operator: operator.to_owned(), with })
}

fn follow<'a>(value: &'a Value, steps: &[Step]) -> Vec<&'a Value> {
    let Some((step, rest)) = steps.split_first() else { return vec![value] };
    let next: Vec<&Value> = match (step, value) {
        (Step::Field(name), Value::Object(fields)) => fields.get(name).into_iter().collect(),
        (Step::Index(index), Value::Array(items)) => {
            let from_end = || usize::try_from(-index).ok().and_then(|back| items.len().checked_sub(back));
            let index = usize::try_from(*index).ok().or_else(from_end);
            index.and_then(|index| items.get(index)).into_iter().collect()
        }
        (Step::All, Value::Array(items)) => items.iter().collect(),
        (Step::All, Value::Object(fields)) => fields.values().collect(),
        (Step::Filter { path, operator, with }, Value::Array(items)) => {
            let holds =
                |item: &&Value| follow(item, path).first().is_some_and(|got| compare(got, operator, with));
            items.iter().filter(holds).collect()
        }
        _ => Vec::new(),
    };
    next.into_iter().flat_map(|value| follow(value, rest)).collect()
}

fn compare(left: &Value, operator: &str, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => {
            left.as_f64().zip(right.as_f64()).and_then(|(left, right)| left.partial_cmp(&right))
        }
        (left, right) => (left == right).then_some(std::cmp::Ordering::Equal),
    };
    match operator {
        "==" => order.is_some_and(std::cmp::Ordering::is_eq),
        "!=" => order.is_none_or(std::cmp::Ordering::is_ne),
        "<" => order.is_some_and(std::cmp::Ordering::is_lt),
        ">" => order.is_some_and(std::cmp::Ordering::is_gt),
        "<=" => order.is_some_and(std::cmp::Ordering::is_le),
        _ => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::JsonPath;

    #[test]
    fn paths_find_what_columns_show() {
        let object = json!({
            "metadata": {"labels": {"topology.kubernetes.io/zone": "a", "x": "y"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Drifted", "status": "False"}]},
            "spec": {"list": [1, 2, 3]},
        });
        let cases = [
            (".spec.list[1]", json!([2])),
            (".spec.list[-1]", json!([3])),
            (".spec.list[*]", json!([1, 2, 3])),
            (".spec.list[7]", json!([])),
            (".spec['list'][0]", json!([1])),
            (".metadata.labels.topology\\.kubernetes\\.io/zone", json!(["a"])),
            (".metadata.labels['topology\\.kubernetes\\.io/zone']", json!(["a"])),
            (".status.conditions[?(@.type==\"Ready\")].status", json!(["True"])),
            (".status.conditions[?(@.type=='Drifted')].status", json!(["False"])),
            (".status.conditions[?(@.type != \"Ready\")].type", json!(["Drifted"])),
            (".none.at.all", json!([])),
        ];
        for (path, found) in cases {
            let parsed = JsonPath::parse(path).unwrap();
            assert_eq!(json!(parsed.find(&object)), found, "{path}");
        }
        assert_eq!(JsonPath::parse(".a[1:2]"), None);
        assert_eq!(JsonPath::parse("..a"), None);
    }
}
