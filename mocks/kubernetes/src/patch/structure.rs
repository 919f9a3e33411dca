//! What a schema says about a place in an object, as far as patches ask.
//!
//! A place is a scalar, a list (atomic, a set, or a map by keys), or a map (granular or atomic). Schemas come from
//! the table of built-in kinds and from custom resource definitions; without a schema the value decides.

mod builtin;
mod openapi;

use serde_json::{Map, Value};

/// A place in an object's schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Structure<'a> {
    /// A place in a built-in kind.
    Builtin(builtin::Place),
    /// A place in an `OpenAPI` v3 schema, as custom resource definitions have it.
    OpenApi(openapi::Place<'a>),
    /// Nothing is known: maps are granular, lists atomic.
    Deduced,
    /// Nothing is known and nothing is merged.
    Untyped,
}

/// A field of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) structure: Structure<'a>,
    /// Whether the schema names the field; otherwise the map takes any key.
    pub(crate) named: bool,
}

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Map { atomic: bool },
    Scalar(Scalar),
    List(List),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Any,
    Number,
    Text,
    Truth,
}

/// How the items of a list are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Atomic,
    /// By their value.
    Set,
    /// By some of their fields: [`Structure::keys`].
    Map,
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strategy<'a> {
    pub(crate) way: Way,
    /// The field that tells items apart.
    pub(crate) key: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// Maps are merged, lists replaced.
    #[default]
    Unsaid,
    Merge,
    Replace,
}

impl<'a> Structure<'a> {
    /// What the place holds, given what is there. With nothing or null there, the first of what may be.
    pub(crate) fn kind(self, value: Option<&Value>) -> Kind {
        match self {
            Self::Builtin(place) => place.kind(value),
            Self::OpenApi(place) => place.kind(value),
            Self::Deduced => deduced(value, false),
            Self::Untyped => deduced(value, true),
        }
    }

    /// The field of a map; `None` if the schema does not allow it.
    pub(crate) fn field(self, name: &str) -> Option<Field<'a>> {
        match self {
            Self::Builtin(place) => place.field(name),
            Self::OpenApi(place) => place.field(name),
            Self::Deduced | Self::Untyped => Some(Field { structure: self, named: false }),
        }
    }

    /// A field that the schema names, or any where there is no schema.
    pub(crate) fn named_field(self, name: &str) -> Option<Self> {
        let known = !matches!(self, Self::Deduced | Self::Untyped);
        self.field(name).filter(|field| field.named || !known).map(|field| field.structure)
    }

    /// The `metadata` of any object.
    fn object_meta() -> Self {
        const META: &str = "k8s.io.apimachinery.pkg.apis.meta.v1";
        let message = crate::schema::schema().message(META, "ObjectMeta");
        message.map_or(Self::Deduced, |message| Self::Builtin(builtin::Place::Message(message)))
    }

    /// An item of a list.
    pub(crate) fn item(self) -> Self {
        match self {
            Self::Builtin(place) => place.item(),
            Self::OpenApi(place) => place.item(),
            Self::Deduced | Self::Untyped => Self::Untyped,
        }
    }

    /// The fields that tell the items of this list apart.
    pub(crate) fn keys(self) -> Vec<&'a str> {
        match self {
            Self::Builtin(place) => place.keys(),
            Self::OpenApi(place) => place.keys(),
            Self::Deduced | Self::Untyped => Vec::new(),
        }
    }

    /// What an absent field stands for.
    pub(crate) fn default_of(self, field: &str) -> Option<Value> {
        match self {
            Self::Builtin(place) => place.default_of(field),
            Self::OpenApi(place) => place.default_of(field),
            Self::Deduced | Self::Untyped => None,
        }
    }

    /// How a strategic merge patch treats this place.
    pub(crate) fn strategy(self) -> Strategy<'a> {
        match self {
            Self::Builtin(place) => place.strategy(),
            Self::OpenApi(place) => place.strategy(),
            Self::Deduced | Self::Untyped => Strategy::default(),
        }
    }

    /// An object of which nothing is set, as it is written.
    pub(crate) fn empty(self) -> Value {
        match self {
            Self::Builtin(place) => place.empty(),
            Self::OpenApi(_) | Self::Deduced | Self::Untyped => Value::Object(Map::new()),
        }
    }

    /// Why a field cannot be merged.
    pub(crate) fn unmergeable(self, field: &str) -> String {
        match self {
            Self::Builtin(place) if place.name().is_none() => {
                "merging an object in json but data type is not struct, instead is: map".to_owned()
            }
            Self::Builtin(place) => {
                let name = place.name().unwrap_or_default();
                format!("unable to find api field in struct {name} for the json field {field:?}")
            }
            _ => format!("unable to find api field {field:?}"),
        }
    }
}

fn deduced(value: Option<&Value>, atomic: bool) -> Kind {
    match value {
        Some(Value::Array(_)) => Kind::List(List::Atomic),
        None | Some(Value::Null | Value::Object(_)) => Kind::Map { atomic },
        Some(_) => Kind::Scalar(Scalar::Any),
    }
}
