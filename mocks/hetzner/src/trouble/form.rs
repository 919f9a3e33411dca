//! Troubles as JSON, and whether what they say makes sense. Whatever is wrong is told with the name of the field.

use std::fmt;
use std::str::FromStr;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::call::{Selector, status_of};
use crate::trouble::target::{Calls, Things};
use crate::trouble::what::{Trouble, What};

/// Why a trouble cannot be. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TroubleError(String);

impl TroubleError {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }
}

impl fmt::Display for TroubleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read the trouble: {}", self.0)
    }
}

impl std::error::Error for TroubleError {}

impl FromStr for Trouble {
    type Err = TroubleError;

    fn from_str(text: &str) -> Result<Self, TroubleError> {
        Self::read(
            serde_json::from_str(text).map_err(|e| TroubleError::new(format!("this is no JSON: {e}")))?,
        )
    }
}

impl<'de> Deserialize<'de> for Trouble {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Value::deserialize(deserializer)?).map_err(|TroubleError(what)| D::Error::custom(what))
    }
}

impl Serialize for Trouble {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&self.what) else {
            return Err(serde::ser::Error::custom("a trouble is an object"));
        };
        let times = serde_json::json!({
            "from": self.from, "until": self.until, "for_s": self.for_s, "count": self.count,
            "per_cent": self.per_million.map(|share| f64::from(share) / 10_000.0),
        });
        fields.extend(times.as_object().cloned().unwrap_or_default());
        bare(Value::Object(fields)).serialize(serializer)
    }
}

/// Without what says nothing: nulls, and objects that hold nothing else.
fn bare(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    let said = |value: &Value| !value.is_null() && value.as_object().is_none_or(|fields| !fields.is_empty());
    Value::Object(
        fields.into_iter().map(|(key, value)| (key, bare(value))).filter(|(_, it)| said(it)).collect(),
    )
}

impl Trouble {
    /// Reads an object. The fields that all troubles have are taken out first, so that the rest must be of its kind.
    fn read(value: Value) -> Result<Self, TroubleError> {
        let Value::Object(mut fields) = value else {
            return Err(TroubleError::new("a trouble is an object with a 'kind'"));
        };
        let (from, until) = (take(&mut fields, "from")?, take(&mut fields, "until")?);
        let (for_s, count) = (take(&mut fields, "for_s")?, take(&mut fields, "count")?);
        let per_million = take(&mut fields, "per_cent")?.map(per_million).transpose()?;
        let what = blaming(&fields, "kind").map_err(|why| {
            let unknown = why.contains("unknown field");
            let more = if unknown {
                "; all kinds have `from`, `until`, `for_s`, `count`, `per_cent`, too"
            } else {
                ""
            };
            TroubleError(format!("{why}{more}"))
        })?;
        let trouble = Self { what, from, until, for_s, count, per_million };
        trouble.check()?;
        Ok(trouble)
    }

    /// Whether what it says makes sense.
    pub(crate) fn check(&self) -> Result<(), TroubleError> {
        let wrong = |what: &str| Err(TroubleError::new(what));
        if self.until.is_some() && self.for_s.is_some() {
            return wrong("'until' and 'for_s' exclude each other");
        }
        if self.from.zip(self.until).is_some_and(|(from, until)| until <= from) {
            return wrong("'until' must be later than 'from'");
        }
        if self.count == Some(0) {
            return wrong("'count' must be at least 1");
        }
        if self.per_million.is_some_and(|share| share == 0 || share > 1_000_000) {
            return wrong("'per_cent' must be more than 0 and at most 100");
        }
        if self.per_million.is_some() && self.what.lasting() {
            return wrong("'per_cent' makes no sense for this kind, which is a state and no event");
        }
        self.what.check()
    }
}

impl What {
    /// Whether it is a state of the whole cloud and not something that happens now and then.
    fn lasting(&self) -> bool {
        matches!(self, Self::RateLimit { .. } | Self::Retired { .. } | Self::Vanished { .. })
    }

    fn check(&self) -> Result<(), TroubleError> {
        let needs = |any: bool, what: &str| if any { Ok(()) } else { Err(TroubleError::new(what)) };
        if let Some(things) = self.things() {
            things.check()?;
        }
        match self {
            Self::Quota { servers, cores, primary_ips } => needs(
                servers.or(*cores).or(*primary_ips).is_some(),
                "one of 'servers', 'cores' and 'primary_ips' is needed",
            ),
            Self::Slow { times, by_s, .. } => {
                needs(times.is_some() || by_s.is_some(), "'times' or 'by_s' is needed")?;
                needs(*times != Some(0), "'times' must be at least 1")
            }
            Self::RateLimit { per_hour, others_per_s, spent } => needs(
                per_hour.is_some() || others_per_s.is_some() || spent.is_some(),
                "one of 'per_hour', 'others_per_s' and 'spent' is needed",
            ),
            Self::Unseen { lag_s, reads, .. } | Self::Lingering { lag_s, reads, .. } => {
                needs(lag_s.is_some() || reads.is_some(), "'lag_s' or 'reads' is needed")
            }
            Self::Error { on, code, status, .. } => {
                on.check()?;
                needs(
                    status.is_none_or(|it| (400..600).contains(&it)),
                    "'status' must lie between 400 and 599",
                )?;
                let known = status.is_some() || status_of(code).is_some();
                needs(known, &format!("'code' {code:?} is none of the API's; such a one needs a 'status'"))
            }
            Self::TornList { on, .. } => on.check(),
            _ => Ok(()),
        }
    }

    pub(super) fn things(&self) -> Option<&Things> {
        match self {
            Self::Slow { of, .. }
            | Self::Stuck { of, .. }
            | Self::Fails { of, .. }
            | Self::StatusStuck { of, .. }
            | Self::ClockSkew { of, .. }
            | Self::Unseen { of, .. }
            | Self::Lingering { of, .. }
            | Self::LateRelease { of, .. } => Some(of),
            _ => None,
        }
    }
}

impl Things {
    fn check(&self) -> Result<(), TroubleError> {
        let selector = self.labels.as_deref().map_or(Ok(()), |text| Selector::parse(text).map(drop));
        selector.map_err(|why| TroubleError::new(format!("'of.labels': {why}")))
    }
}

impl Calls {
    fn check(&self) -> Result<(), TroubleError> {
        let path = self.path.as_deref().unwrap_or("/");
        if !path.starts_with(['/', '*']) || path.starts_with("/v1/") {
            return Err(TroubleError::new("'on.path' is below the version: '/servers' or '/servers/*'"));
        }
        let method = self.method.as_deref().unwrap_or("GET");
        if !["GET", "POST", "PUT", "DELETE", "change"].contains(&method) {
            return Err(TroubleError::new("'on.method' must be one of GET, POST, PUT, DELETE, change"));
        }
        Ok(())
    }
}

/// Takes a field out, if it is there.
fn take<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    field: &str,
) -> Result<Option<T>, TroubleError> {
    let value = fields.remove(field).unwrap_or_default();
    serde_json::from_value(value).map_err(|error| TroubleError::new(format!("'{field}': {error}")))
}

fn per_million(per_cent: f64) -> Result<u32, TroubleError> {
    let share = per_cent * 10_000.0;
    if !(0.5..=1_000_000.0).contains(&share) {
        return Err(TroubleError::new("'per_cent' must be more than 0 and at most 100"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its bounds were just seen")]
    Ok(share.round() as u32)
}

/// Reads what a tag says the kind of, and tells which field is wrong: the one without which something else is, or
/// nothing.
pub(crate) fn blaming<T: DeserializeOwned>(fields: &Map<String, Value>, tag: &str) -> Result<T, String> {
    let read = |fields: Map<String, Value>| {
        serde_json::from_value::<T>(Value::Object(fields)).map_err(|error| error.to_string())
    };
    let error = match read(fields.clone()) {
        Ok(it) => return Ok(it),
        Err(error) => error,
    };
    let guilty = fields.keys().filter(|field| *field != tag).find(|field| {
        let mut others = fields.clone();
        others.remove(*field);
        read(others).err().as_ref() != Some(&error)
    });
    Err(match guilty {
        Some(field) if !error.contains(&format!("`{field}`")) => format!("'{field}': {error}"),
        _ => error,
    })
}
