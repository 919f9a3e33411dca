//! Troubles and deeds as JSON schemas: which kinds there are, and which fields each has, for editors and whoever explains.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{Trouble, What, Which};

impl JsonSchema for Trouble {
    fn schema_name() -> Cow<'static, str> {
        "Trouble".into()
    }

    /// Each kind with its own fields and those that all have.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = What::json_schema(generator);
        let kinds = schema.get_mut("oneOf").and_then(Value::as_array_mut);
        for kind in kinds.into_iter().flatten() {
            kind["additionalProperties"] = false.into();
            for (field, of) in of_all() {
                kind["properties"][field] = of;
            }
        }
        schema
    }
}

/// The fields of all kinds.
fn of_all() -> [(&'static str, Value); 5] {
    let count = json!({"type": "integer", "format": "uint64", "minimum": 1});
    let of = |says: &str, mut schema: Value| {
        schema["description"] = says.into();
        schema
    };
    let count32 = json!({"type": "integer", "format": "uint32", "minimum": 1});
    let moment = || json!({"type": "string"});
    let share = json!({"type": "number", "exclusiveMinimum": 0, "maximum": 100});
    [
        ("from", of("From this moment on; otherwise at once.", moment())),
        ("until", of("Up to this moment; otherwise until it is healed.", moment())),
        ("for_s", of("For so many seconds, instead of `until`.", count)),
        ("count", of("It bites at most so often.", count32)),
        ("per_cent", of("It bites in so many of a hundred cases; otherwise in all.", share)),
    ]
}

impl JsonSchema for Which {
    fn schema_name() -> Cow<'static, str> {
        "Which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "One thing, by its name or its id.", "type": ["string", "integer"], "format": "uint64"})
    }
}

#[cfg(test)]
mod tests {
    use schemars::SchemaGenerator;

    use super::*;

    #[test]
    fn every_kind_has_its_own_fields_and_those_of_all() {
        let schema = Trouble::json_schema(&mut SchemaGenerator::default());
        let kinds = schema.get("oneOf").and_then(Value::as_array).unwrap();
        assert_eq!(kinds.len(), 20);
        let sold_out = kinds.iter().find(|kind| kind["properties"]["kind"]["const"] == "sold_out").unwrap();
        let fields: Vec<&String> = sold_out["properties"].as_object().unwrap().keys().collect();
        for field in
            ["server_type", "location", "refused_as", "message", "kind", "per_cent", "count", "for_s"]
        {
            assert!(fields.iter().any(|known| *known == field), "{field} is missing in {fields:?}");
        }
        assert_eq!(
            (&sold_out["additionalProperties"], &sold_out["required"]),
            (&json!(false), &json!(["kind"]))
        );
    }
}
