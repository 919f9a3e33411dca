//! A span of time as a scenario writes it: fixed, or against a timer of the subject. The plan makes periods of spans.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::terms::{Period, Timer};

/// A span of time: written as a duration (`10m`, `90s`, `1h30m`), or against a timer of the subject
/// (`{timer: unneeded_time, times: 2, plus: 30s, minus: 5s}`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Always as long.
    Fixed(Period),
    /// As long as the subject takes.
    Timer {
        /// This timer of it.
        timer: Timer,
        /// So many times.
        times: u32,
        /// And so much more.
        plus: Period,
        /// Or so much less.
        minus: Period,
    },
}

/// A span against a timer, as it is written.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AgainstTimer {
    /// This timer of the subject.
    timer: Timer,
    /// So many times; once, if left out.
    #[serde(default = "once")]
    times: u32,
    /// And so much more.
    #[serde(default)]
    plus: Period,
    /// Or so much less.
    #[serde(default)]
    minus: Period,
}

fn once() -> u32 {
    1
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Span::Fixed(period) => period.serialize(serializer),
            Span::Timer { timer, times, plus, minus } => {
                AgainstTimer { timer, times, plus, minus }.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(deserializer)?;
        if let Value::String(text) = written {
            return text.parse().map(Span::Fixed).map_err(D::Error::custom);
        }
        let AgainstTimer { timer, times, plus, minus } =
            serde_json::from_value(written).map_err(D::Error::custom)?;
        Ok(Span::Timer { timer, times, plus, minus })
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A span of time: `10m`, or `{timer: unneeded_time, times: 2, plus: 30s, minus: 5s}`.",
            "anyOf": [generator.subschema_for::<Period>(), generator.subschema_for::<AgainstTimer>()],
        })
    }
}
