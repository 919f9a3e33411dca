//! Objects for the laws: drawn field by field from the table, out of the bytes that proptest makes up.

use serde_json::{Map, Value, json};

use super::{Field, Message, Shape, schema};

/// The source of choices; it ends in zeros, so every drawing ends.
pub(crate) struct Draw<'a>(std::slice::Iter<'a, u8>);

impl<'a> Draw<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % limit
    }

    fn one<'b>(&mut self, of: &[&'b str]) -> &'b str {
        of[self.below(of.len())]
    }

    /// An object of a kind that the table knows, in no canonical form.
    pub(crate) fn object(&mut self) -> (&'static Message, Value) {
        let kinds = [
            ("v1", "Pod"),
            ("v1", "Node"),
            ("v1", "Secret"),
            ("v1", "Event"),
            ("v1", "PersistentVolume"),
            ("apps/v1", "Deployment"),
            ("policy/v1", "PodDisruptionBudget"),
            ("coordination.k8s.io/v1", "Lease"),
            ("resource.k8s.io/v1", "ResourceSlice"),
            ("authorization.k8s.io/v1", "SubjectAccessReview"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("meta.k8s.io/v1", "DeleteOptions"),
        ];
        let (api_version, kind) = kinds[self.below(kinds.len())];
        let message = schema().api_kind(api_version, kind).unwrap();
        let mut object = self.message(message, 9);
        object.insert("apiVersion".to_owned(), Value::from(api_version));
        object.insert("kind".to_owned(), Value::from(kind));
        (message, Value::Object(object))
    }

    fn message(&mut self, message: &'static Message, depth: usize) -> Map<String, Value> {
        let mut object = Map::new();
        if depth == 0 {
            return object;
        }
        for field in message.fields() {
            // Deep down and in wide messages fewer are set; the fields that carry the rest are favoured.
            let rare = if matches!(field.shape, Shape::Message(_)) { 2 } else { 3 };
            if self.below(rare) == 1 {
                object.insert(field.json.to_owned(), self.field(field, depth));
            }
        }
        object
    }

    fn field(&mut self, field: &'static Field, depth: usize) -> Value {
        if self.below(16) == 15 {
            return Value::Null;
        }
        if field.repeated {
            return (0..self.below(3)).map(|_| self.value(field.shape, depth)).collect();
        }
        if field.map {
            let keys = ["", "a", "b/c"].into_iter().take(self.below(4));
            return keys.map(|key| (key.to_owned(), self.value(field.shape, depth))).collect();
        }
        self.value(field.shape, depth)
    }

    fn value(&mut self, shape: Shape, depth: usize) -> Value {
        match shape {
            Shape::Bool => Value::from(self.below(2) == 1),
            Shape::Int32 => Value::from([0, 1, -1, 300, i32::MAX, i32::MIN][self.below(6)]),
            Shape::Int64 => Value::from([0, 1, -1, 300, i64::MAX, i64::MIN][self.below(6)]),
            Shape::Double => Value::from([0.5, -2.25, 1e300][self.below(3)]),
            Shape::String => {
                Value::from(self.one(&["", "a", "käse", "a\u{0}\n\"", "0123456789".repeat(20).as_str()]))
            }
            Shape::Bytes => Value::from(self.one(&["", "AA==", "aGVsbG8="])),
            Shape::Message(id) => Value::Object(self.message(id.message(), depth - 1)),
            Shape::Quantity => {
                let texts = ["0", "1", "1000m", "1.5Gi", "1024", "1000", "2e3", "-5", "0.1m", "1E", "300Ki"];
                Value::from(self.one(&texts))
            }
            Shape::IntOrString => [json!(0), json!(80), json!(""), json!("50%")][self.below(4)].clone(),
            Shape::Time => Value::from(self.one(&["2026-01-02T03:04:05Z", "1969-02-03T04:05:06.7+01:00"])),
            Shape::MicroTime => {
                Value::from(self.one(&["2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05.123456-01:00"]))
            }
            Shape::Json => [json!({"a": [1, null]}), json!("x"), json!(false)][self.below(3)].clone(),
            Shape::Strings => [json!([]), json!(["a", ""]), Value::Null][self.below(3)].clone(),
            Shape::SchemaOrArray(id) if self.below(2) == 1 => {
                json!([self.message(id.message(), depth - 1)])
            }
            Shape::SchemaOrBool(_) if self.below(2) == 1 => Value::from(self.below(2) == 1),
            Shape::SchemaOrStrings(_) if self.below(2) == 1 => json!(["a"]),
            Shape::SchemaOrArray(id) | Shape::SchemaOrBool(id) | Shape::SchemaOrStrings(id) => {
                Value::Object(self.message(id.message(), depth - 1))
            }
        }
    }

    /// Spoils a value somewhere: wrong types, unknown fields, nulls.
    pub(crate) fn spoil(&mut self, value: &mut Value) {
        let odd = [
            json!(null),
            json!(1.5),
            json!("x"),
            json!([null]),
            json!({"odd": {}}),
            json!(true),
            json!(1e40),
        ];
        match value {
            Value::Object(object) if !object.is_empty() && self.below(8) > 0 => {
                let at = self.below(object.len());
                if let Some((_, inner)) = object.iter_mut().nth(at) {
                    self.spoil(inner);
                }
            }
            Value::Array(list) if !list.is_empty() && self.below(8) > 0 => {
                let at = self.below(list.len());
                self.spoil(&mut list[at]);
            }
            other => *other = odd[self.below(odd.len())].clone(),
        }
    }
}
