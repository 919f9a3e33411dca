//! How values are written in a scenario where that is shorter than what they are: amounts, settings, and steps whose
//! fields stand beside what they are about.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::{Map, Value, json};

use super::{
    ByHand, Condition, Expect, FaultSpec, GroupByHand, GroupDeed, Hurt, Matter, NodeDeed, Span, Until, When,
};
use crate::document;
use crate::terms::SubjectOption;

/// What names look like.
pub(super) const NAME: &str = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";

/// The schema of names that are keys.
pub(super) fn name() -> Value {
    json!({"type": "string", "format": "name", "pattern": NAME})
}

/// An amount of processor: `500m`, `2`.
pub(super) struct Cpu;

impl JsonSchema for Cpu {
    fn schema_name() -> Cow<'static, str> {
        "Cpu".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "integer"], "format": "cpu", "pattern": "^[0-9]{1,10}m?$", "minimum": 0, "maximum": 1_000_000})
    }
}

/// An amount of memory: `512Mi`, `2Gi`.
pub(super) struct Memory;

impl JsonSchema for Memory {
    fn schema_name() -> Cow<'static, str> {
        "Memory".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "memory", "pattern": "^[0-9]{1,10}(Mi|Gi)$"})
    }
}

/// What an option is set to: a text, a number, `true` or `false`.
pub(super) struct Setting;

impl JsonSchema for Setting {
    fn schema_name() -> Cow<'static, str> {
        "Setting".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "boolean", "integer"], "format": "int64"})
    }
}

pub(super) mod cpu {
    use super::{Deserialize, Deserializer, Error, Value, document};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
    pub(in super::super) fn serialize<S: serde::Serializer>(milli: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{milli}m"))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let read = match Value::deserialize(from)? {
            Value::String(text) => document::cpu(&text),
            other => other.as_u64().and_then(|cores| cores.checked_mul(1000)),
        };
        read.ok_or_else(|| D::Error::custom("an amount of processor looks like 500m or 2"))
    }
}

pub(super) mod memory {
    use super::{Deserialize, Deserializer, Error, document};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
    pub(in super::super) fn serialize<S: serde::Serializer>(mib: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{mib}Mi"))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let read = document::memory(&String::deserialize(from)?);
        read.ok_or_else(|| D::Error::custom("an amount of memory looks like 512Mi or 2Gi"))
    }
}

/// What options are set to, as texts.
pub(super) fn settings<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<SubjectOption, String>, D::Error> {
    let written = BTreeMap::<SubjectOption, Value>::deserialize(from)?;
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok(written.into_iter().map(|(option, value)| (option, text(value))).collect())
}

/// What one thing is, as a text, if anything is said.
pub(super) fn setting<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let written = Value::deserialize(from)?;
    let text = written.as_str().map_or_else(|| written.to_string(), str::to_owned);
    Ok((!written.is_null()).then_some(text))
}

/// A choice with other fields beside it.
struct Beside(Map<String, Value>);

impl Beside {
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Map::deserialize(from).map(Self)
    }

    fn take<T: DeserializeOwned, E: Error>(&mut self, field: &str) -> Result<T, E> {
        serde_json::from_value(self.0.remove(field).unwrap_or_default()).map_err(E::custom)
    }

    /// What the choice is called.
    fn tag(&self) -> String {
        self.0.keys().next().cloned().unwrap_or_default()
    }

    /// What is left is the choice; one that is a mere word is written `word: true`.
    fn choice<T: DeserializeOwned, E: Error>(self) -> Result<T, E> {
        let only = self.0.iter().next().filter(|(_, value)| **value == Value::Bool(true));
        let choice = only.map(|(word, _)| Value::String(word.clone()));
        serde_json::from_value(choice.unwrap_or(Value::Object(self.0))).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Until {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut written = Beside::read(from)?;
        let may_fail = written.take::<Option<bool>, _>("may_fail")?.unwrap_or_default();
        Ok(Until { at_most: written.take("at_most")?, may_fail, condition: written.choice()? })
    }
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut written = Beside::read(from)?;
        let [within, throughout, never] = When::WORDS;
        let times = [
            written.take::<Option<Span>, _>(within)?.map(When::Within),
            written.take::<Option<Span>, _>(throughout)?.map(When::Throughout),
            written.take::<Option<Span>, _>(never)?.map(When::Never),
        ];
        let times: Vec<When> = times.into_iter().flatten().collect();
        let [when] = times.as_slice() else {
            return Err(D::Error::custom("it must say one of within, throughout and never"));
        };
        let meanwhile = written.take::<Option<bool>, _>("meanwhile")?.unwrap_or_default();
        Ok(Expect { when: *when, meanwhile, matter: written.choice()? })
    }
}

impl<'de> Deserialize<'de> for Hurt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut written = Beside::read(from)?;
        let (name, lasting) = (written.take::<Option<String>, _>("name")?, written.take("lasting")?);
        Ok(Hurt { name: name.unwrap_or_else(|| written.tag()), lasting, fault: written.choice()? })
    }
}

impl<'de> Deserialize<'de> for ByHand {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut written = Beside::read(from)?;
        Ok(ByHand { pool: written.take("pool")?, deed: written.choice()? })
    }
}

impl<'de> Deserialize<'de> for GroupByHand {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut written = Beside::read(from)?;
        Ok(GroupByHand { pool: written.take("pool")?, deed: written.choice()? })
    }
}

impl JsonSchema for Until {
    fn schema_name() -> Cow<'static, str> {
        "Until".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let at_most = generator.subschema_for::<Span>();
        let may_fail = json_schema!({
            "description": "Whether it is well if it does not come; otherwise nobody knows then what was asked for.",
            "type": "boolean",
        });
        let fields = [("at_most", at_most, true), ("may_fail", may_fail, false)];
        beside(&Condition::json_schema(generator), &fields)
    }
}

impl JsonSchema for Expect {
    fn schema_name() -> Cow<'static, str> {
        "Expect".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let meanwhile = json_schema!({
            "description": "Whether the next step begins at once.",
            "type": "boolean",
        });
        let mut fields = vec![("meanwhile", meanwhile, false)];
        fields.extend(When::WORDS.map(|word| (word, generator.subschema_for::<Span>(), false)));
        beside(&Matter::json_schema(generator), &fields)
    }
}

impl JsonSchema for Hurt {
    fn schema_name() -> Cow<'static, str> {
        "Hurt".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = json_schema!({
            "description": "What it is called, to be healed by: what it is, if nothing else is said.",
            "type": "string",
            "format": "name",
            "pattern": NAME,
        });
        let lasting = generator.subschema_for::<Span>();
        beside(&FaultSpec::json_schema(generator), &[("name", name, false), ("lasting", lasting, false)])
    }
}

impl JsonSchema for ByHand {
    fn schema_name() -> Cow<'static, str> {
        "ByHand".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pool = json_schema!({"description": "To one of this pool.", "type": "string"});
        beside(&NodeDeed::json_schema(generator), &[("pool", pool, true)])
    }
}

impl JsonSchema for GroupByHand {
    fn schema_name() -> Cow<'static, str> {
        "GroupByHand".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pool = json_schema!({"description": "To this pool.", "type": "string"});
        beside(&GroupDeed::json_schema(generator), &[("pool", pool, true)])
    }
}

/// The schema of a choice with other fields beside it: name, schema, whether it must be there.
fn beside(choice: &Schema, fields: &[(&str, Schema, bool)]) -> Schema {
    let choice = choice.as_value();
    let mut branches = Vec::new();
    for branch in choice["oneOf"].as_array().into_iter().flatten() {
        let listed = branch["enum"].as_array().into_iter().flatten();
        let words: Vec<&Value> = listed.chain(branch.get("const")).collect();
        if words.is_empty() {
            branches.push(branch.clone());
        }
        for word in words.into_iter().filter_map(Value::as_str) {
            let mut branch = json!({"type": "object", "required": [word], "additionalProperties": false});
            branch["properties"][word] = json!({"type": "boolean", "const": true});
            branches.push(branch);
        }
    }
    for branch in &mut branches {
        for (name, schema, needed) in fields {
            branch["properties"][*name] = schema.clone().to_value();
            if let (true, Some(required)) = (needed, branch["required"].as_array_mut()) {
                required.push((*name).into());
            }
        }
    }
    json_schema!({"oneOf": branches})
}
