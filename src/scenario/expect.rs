//! What a scenario itself expects of a run, beyond what documents promise: a step that says what must be so, and when.
//!
//! Plain values, written as YAML and stored in the plan of a history. Whether something is so, [`crate::matter`] says.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Span, written};

/// Something must be so: `{running: web, within: 10m}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// What.
    pub matter: Matter,
    /// When, from the moment at which the step begins.
    pub when: When,
    /// The next step begins at once, and what is expected is expected meanwhile.
    pub meanwhile: bool,
}

/// When something must be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At some moment of this time.
    Within(Span),
    /// At each moment of this time.
    Throughout(Span),
    /// At no moment of this time.
    Never(Span),
}

impl When {
    /// The words for it.
    pub const WORDS: [&str; 3] = ["within", "throughout", "never"];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            When::Within(_) => Self::WORDS[0],
            When::Throughout(_) => Self::WORDS[1],
            When::Never(_) => Self::WORDS[2],
        }
    }

    /// For how long.
    pub fn span(self) -> Span {
        let (When::Within(span) | When::Throughout(span) | When::Never(span)) = self;
        span
    }

    /// The same for another time.
    #[must_use]
    pub fn lasting(self, span: Span) -> Self {
        match self {
            When::Within(_) => When::Within(span),
            When::Throughout(_) => When::Throughout(span),
            When::Never(_) => When::Never(span),
        }
    }
}

/// What must be so.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Matter {
    /// All pods of a workload run.
    Running(String),
    /// A pod of a workload is unschedulable.
    Unschedulable(String),
    /// All pods of a workload are gone.
    Gone(String),
    /// There are so many pods.
    Pods {
        /// Of this workload; of all, if left out.
        #[serde(default)]
        workload: Option<String>,
        /// That are so; in whatever state, if left out.
        #[serde(default)]
        state: Option<PodState>,
        /// So many.
        count: Count,
    },
    /// There are so many nodes.
    Nodes {
        /// Of this pool; of all, if left out.
        #[serde(default)]
        pool: Option<String>,
        /// That are so; in whatever state, if left out.
        #[serde(default)]
        state: Option<NodeState>,
        /// So many.
        count: Count,
    },
    /// A pool has so many nodes that are ready.
    ReadyNodes {
        /// This pool.
        pool: String,
        /// So many.
        count: Count,
    },
    /// There are so many servers, or what stands in their place: machines of Cluster API, claims of Karpenter.
    Servers {
        /// Of this pool; of all, if left out.
        #[serde(default)]
        pool: Option<String>,
        /// So many.
        count: Count,
    },
    /// A pool is meant to be so big: its servers that are not on their way out, or the replicas of its machine deployment.
    Size {
        /// This pool.
        pool: String,
        /// So big.
        count: Count,
    },
    /// The subject buys, or tries to buy, in a pool.
    Ordered(String),
    /// The subject gives something back, or tries to, in a pool.
    GivenBack(String),
    /// The subject has bought, or tried to buy, so many machines since the step began.
    Orders {
        /// In this pool; in any, if left out.
        #[serde(default)]
        pool: Option<String>,
        /// So many.
        count: Count,
    },
    /// All servers together have cost no more than so much since the run began.
    Bill {
        /// In euros, as the cloud's prices are: `"0.05"`.
        #[serde(rename = "at_most", with = "euros")]
        #[schemars(with = "Euros")]
        at_most_millis: u64,
    },
    /// A fault has hurt somebody since it is there.
    Bitten(String),
    /// An object of the cluster is there, or something of it is so.
    Object {
        /// Group and version of its API: `v1`, if left out, or `apps/v1`.
        #[serde(default = "core")]
        api: String,
        /// Its kind, such as `Node`.
        kind: String,
        /// Its namespace; any, if left out.
        #[serde(default)]
        namespace: Option<String>,
        /// Its name; some object of the kind, if left out.
        #[serde(default)]
        name: Option<String>,
        /// What of it, as a path: `.status.replicas`. If left out, that it is there.
        #[serde(default)]
        #[schemars(extend("format" = "path"))]
        path: Option<String>,
        /// Or which of the conditions in its status, such as `Ready`.
        #[serde(default)]
        condition: Option<String>,
        /// What that is. If left out, that there is anything; of a condition, that it is `True`.
        #[serde(default, deserialize_with = "written::setting")]
        #[schemars(with = "Option<written::Setting>")]
        is: Option<String>,
    },
}

impl Matter {
    /// Whether it happens at a moment, and does not last.
    pub fn happens(&self) -> bool {
        matches!(self, Matter::Ordered(_) | Matter::GivenBack(_))
    }
}

fn core() -> String {
    "v1".to_owned()
}

/// How a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PodState {
    /// It runs, is ready, and has not been told to end.
    Running,
    /// It waits, for a node or on one.
    Pending,
    /// The scheduler says that it fits nowhere.
    Unschedulable,
    /// It has been told to end.
    Ending,
}

/// How a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// It is ready.
    Ready,
    /// It is not.
    Unready,
    /// It takes no new pods.
    Cordoned,
    /// It has been told to go.
    Ending,
}

/// How many: `3`, or `{at_least: 1, at_most: 3}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Not fewer.
    pub at_least: Option<u32>,
    /// Not more.
    pub at_most: Option<u32>,
}

impl Count {
    /// Whether so many are right.
    pub fn fits(self, many: u32) -> bool {
        self.at_least.is_none_or(|least| many >= least) && self.at_most.is_none_or(|most| many <= most)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) if least == most => write!(f, "{least}"),
            (Some(least), Some(most)) => write!(f, "{least} to {most}"),
            (Some(least), None) => write!(f, "at least {least}"),
            (None, Some(most)) => write!(f, "at most {most}"),
            (None, None) => f.write_str("any number of"),
        }
    }
}

/// A count between bounds, as it is written.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
struct Between {
    /// Not fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_least: Option<u32>,
    /// Not more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_most: Option<u32>,
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Count { at_least: Some(least), at_most: Some(most) } if least == most => {
                serializer.serialize_u32(least)
            }
            Count { at_least, at_most } => Between { at_least, at_most }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(deserializer)?;
        if let Some(exactly) = written.as_u64().and_then(|many| u32::try_from(many).ok()) {
            return Ok(Count { at_least: Some(exactly), at_most: Some(exactly) });
        }
        let Between { at_least, at_most } = serde_json::from_value(written).map_err(D::Error::custom)?;
        Ok(Count { at_least, at_most })
    }
}

impl JsonSchema for Count {
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How many: `3`, or `{at_least: 1, at_most: 3}`.",
            "anyOf": [generator.subschema_for::<u32>(), generator.subschema_for::<Between>()],
        })
    }
}

/// An amount of money: `"0.05"`.
struct Euros;

impl JsonSchema for Euros {
    fn schema_name() -> Cow<'static, str> {
        "Euros".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "euros", "pattern": "^[0-9]{1,6}(\\.[0-9]{1,3})?$"})
    }
}

mod euros {
    use serde::de::{Deserialize, Deserializer, Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
    pub(super) fn serialize<S: serde::Serializer>(millis: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{}.{:03}", millis / 1000, millis % 1000))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let read = crate::document::euros(&String::deserialize(from)?);
        read.ok_or_else(|| D::Error::custom("an amount of money looks like 0.05"))
    }
}

impl Serialize for Expect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |value: Result<Value, _>| value.map_err(serde::ser::Error::custom);
        let mut fields = match value(serde_json::to_value(&self.matter))? {
            Value::Object(fields) => fields,
            word => Map::from_iter([(word.to_string(), Value::Bool(true))]),
        };
        fields.insert(self.when.word().to_owned(), value(serde_json::to_value(self.when.span()))?);
        if self.meanwhile {
            fields.insert("meanwhile".to_owned(), Value::Bool(true));
        }
        fields.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_expected_is_stored_as_it_is_written() {
        for written in [
            json!({"running": "web", "within": "10m"}),
            json!({"ordered": "small", "never": "5m", "meanwhile": true}),
            json!({"servers": {"pool": "small", "count": {"at_most": 3}}, "throughout": "1h"}),
            json!({"bill": {"at_most": "0.050"}, "throughout": "1h"}),
        ] {
            let expect: Expect = serde_json::from_value(written.clone()).unwrap();
            let stored = serde_json::to_value(&expect).unwrap();
            assert_eq!(serde_json::from_value::<Expect>(stored.clone()).unwrap(), expect);
            assert_eq!(stored["within"], written["within"]);
        }
        let count = |written: Value| serde_json::from_value::<Count>(written).unwrap();
        assert!(count(json!(3)).fits(3) && !count(json!(3)).fits(2));
        assert!(count(json!({"at_least": 1})).fits(9) && !count(json!({"at_most": 1})).fits(2));
        assert_eq!(count(json!({"at_least": 1, "at_most": 4})).to_string(), "1 to 4");
    }

    #[test]
    fn what_does_not_say_when_is_no_expectation() {
        for wrong in [
            json!({"running": "web"}),
            json!({"running": "web", "within": "1m", "never": "1m"}),
            json!({"running": "web", "within": "1m", "bill": {"at_most": "1"}}),
        ] {
            assert!(serde_json::from_value::<Expect>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
