//! Places of the built-in kinds, by the generated table.

use serde_json::{Value, json};

use crate::schema::{self, Message, Shape};

use super::{Field, Kind, List, Scalar, Strategy, Structure, Way};

/// A place: a whole message, a field, or what one entry of a list or map holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Message(&'static Message),
    Field(&'static schema::Field),
    Entry(&'static schema::Field),
}

impl Place {
    pub(super) fn kind(self, value: Option<&Value>) -> Kind {
        match self {
            Self::Message(message) => Kind::Map { atomic: message.atomic },
            Self::Field(field) if field.repeated => Kind::List(match field.list {
                schema::List::Atomic => List::Atomic,
                schema::List::Set => List::Set,
                schema::List::Map(_) => List::Map,
            }),
            Self::Field(field) if field.map => Kind::Map { atomic: field.atomic },
            Self::Field(field) | Self::Entry(field) => match field.shape {
                Shape::Message(id) => {
                    let whole = matches!(self, Self::Field(_)) && field.atomic;
                    Kind::Map { atomic: whole || id.message().atomic }
                }
                Shape::Bool => Kind::Scalar(Scalar::Truth),
                Shape::Int32 | Shape::Int64 | Shape::Double => Kind::Scalar(Scalar::Number),
                Shape::String | Shape::Bytes => Kind::Scalar(Scalar::Text),
                Shape::Quantity | Shape::IntOrString | Shape::Time | Shape::MicroTime => {
                    Kind::Scalar(Scalar::Any)
                }
                Shape::Strings => Kind::List(List::Atomic),
                Shape::Json
                | Shape::SchemaOrArray(_)
                | Shape::SchemaOrBool(_)
                | Shape::SchemaOrStrings(_) => super::deduced(value, true),
            },
        }
    }

    /// The message whose fields stand here.
    fn message(self) -> Option<&'static Message> {
        match self {
            Self::Message(message) => Some(message),
            Self::Field(field) if field.repeated || field.map => None,
            Self::Field(field) | Self::Entry(field) => match field.shape {
                Shape::Message(id) => Some(id.message()),
                _ => None,
            },
        }
    }

    pub(super) fn field(self, name: &str) -> Option<Field<'static>> {
        if let Some(message) = self.message() {
            let structure = Structure::Builtin(Self::Field(message.field(name)?));
            return Some(Field { structure, named: true });
        }
        let structure = match self {
            Self::Field(field) if field.map => Structure::Builtin(Self::Entry(field)),
            _ => Structure::Untyped,
        };
        Some(Field { structure, named: false })
    }

    pub(super) fn item(self) -> Structure<'static> {
        match self {
            Self::Field(field) if field.repeated => Structure::Builtin(Self::Entry(field)),
            _ => Structure::Untyped,
        }
    }

    pub(super) fn keys(self) -> Vec<&'static str> {
        match self {
            Self::Field(schema::Field { list: schema::List::Map(keys), .. }) => keys.clone(),
            _ => Vec::new(),
        }
    }

    /// A field that is always written stands for its zero.
    pub(super) fn default_of(self, field: &str) -> Option<Value> {
        let field = self.message()?.field(field)?;
        match (field.default, field.shape) {
            (Some(default), _) => Some(json!(default)),
            (None, _) if field.pointer || !field.always => None,
            (None, Shape::String) => Some(json!("")),
            (None, Shape::Int32 | Shape::Int64) => Some(json!(0)),
            _ => None,
        }
    }

    pub(super) fn strategy(self) -> Strategy<'static> {
        let Self::Field(schema::Field { merge: Some(merge), .. }) = self else { return Strategy::default() };
        let way = match merge {
            merge if merge.merge => Way::Merge,
            merge if merge.retain_keys => Way::Unsaid,
            _ => Way::Replace,
        };
        Strategy { way, key: (!merge.key.is_empty()).then_some(merge.key) }
    }

    /// A struct of which nothing is set.
    pub(super) fn empty(self) -> Value {
        let mut empty = json!({});
        if let Some(message) = self.message() {
            // Nothing in an empty object can be refused.
            let _ = schema::conform(message, &mut empty);
        }
        empty
    }

    /// The Go struct, for errors.
    pub(super) fn name(self) -> Option<&'static str> {
        self.message().map(|message| message.name)
    }
}

impl Structure<'static> {
    /// A whole object of a built-in kind.
    pub(crate) fn builtin(api_version: &str, kind: &str) -> Option<Self> {
        schema::schema().api_kind(api_version, kind).map(|message| Self::Builtin(Place::Message(message)))
    }
}
