//! What somebody does by hand, past the clients: no trouble, as it happens once and is not undone.
//!
//! A deed goes the way of a request, without token and limit, so that the same rules hold and the ledger knows of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mock_clock::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;

use crate::call::{Call, Query, Run, Wrong};
use crate::engine::Engine;
use crate::resource::Kind;
use crate::resource::shelf::Head;

/// Who the ledger names.
const BY_HAND: &str = "by hand";

/// Something done by hand. As JSON: `{"deed": "power_off", "server": "web-1"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "deed", rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    /// Something is deleted.
    Delete {
        /// Of this kind: a server, if left out.
        #[serde(default = "server")]
        what: Kind,
        /// This one.
        which: Which,
    },
    /// The plug of a server is pulled.
    PowerOff {
        /// This server.
        server: Which,
    },
    /// A server is switched on.
    PowerOn {
        /// This server.
        server: Which,
    },
    /// Something gets other labels.
    Relabel {
        /// Of this kind: a server, if left out.
        #[serde(default = "server")]
        what: Kind,
        /// This one.
        which: Which,
        /// Labels that are set.
        #[serde(default)]
        set: BTreeMap<String, String>,
        /// Labels that are taken away.
        #[serde(default)]
        remove: BTreeSet<String>,
    },
    /// Something gets another name.
    Rename {
        /// Of this kind: a server, if left out.
        #[serde(default = "server")]
        what: Kind,
        /// This one.
        which: Which,
        /// Its name from now on.
        name: String,
    },
    /// The disk of a server is written anew.
    Rebuild {
        /// This server.
        server: Which,
        /// From this image.
        image: String,
    },
    /// A server leaves a network.
    Detach {
        /// This server.
        server: Which,
        /// The network.
        network: Which,
    },
}

fn server() -> Kind {
    Kind::Server
}

/// One thing of a kind. As JSON it is a number or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// By its id.
    Id(u64),
    /// By its name.
    Name(String),
}

/// Why a deed cannot be done. Reads after "failed to".
#[derive(Clone, Debug, PartialEq)]
pub struct DeedError(String);

impl fmt::Display for DeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeedError {}

impl From<u64> for Which {
    fn from(id: u64) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for Which {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Name(name) => write!(f, "'{name}'"),
        }
    }
}

impl Serialize for Which {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => id.serialize(serializer),
            Self::Name(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Which {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl de::Visitor<'_> for NumberOrText {
            type Value = Which;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id or a name")
            }
            fn visit_u64<E>(self, id: u64) -> Result<Which, E> {
                Ok(Which::Id(id))
            }
            fn visit_str<E>(self, name: &str) -> Result<Which, E> {
                Ok(Which::from(name))
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

impl Engine {
    /// Does something by hand.
    pub fn by_hand(&mut self, now: Time, deed: &Deed) -> Result<(), DeedError> {
        self.advance(now);
        let (method, path, body) = self.as_request(deed)?;
        self.touched();
        self.run_by_hand(now, method, &path, &body).map_err(|wrong| {
            let message = wrong.show();
            let message = message.pointer("/error/message").and_then(|it| it.as_str()).unwrap_or_default();
            DeedError(format!("{method} {path} by hand: {message} ({})", wrong.code()))
        })
    }

    /// The request that does the same.
    fn as_request(&self, deed: &Deed) -> Result<(&'static str, String, String), DeedError> {
        let thing = |what: Kind, which| Ok(format!("/{}/{}", what.path(), self.head(what, which)?.id));
        let server = |which, action| Ok(format!("{}/actions/{action}", thing(Kind::Server, which)?));
        let nothing = String::new();
        Ok(match deed {
            Deed::Delete { what, which } => ("DELETE", thing(*what, which)?, nothing),
            Deed::PowerOff { server: which } => ("POST", server(which, "poweroff")?, nothing),
            Deed::PowerOn { server: which } => ("POST", server(which, "poweron")?, nothing),
            Deed::Relabel { what, which, set, remove } => {
                let mut labels = self.head(*what, which)?.labels.clone();
                labels.retain(|label, _| !remove.contains(label));
                labels.extend(set.clone());
                ("PUT", thing(*what, which)?, json!({"labels": labels}).to_string())
            }
            Deed::Rename { what, which, name } => {
                ("PUT", thing(*what, which)?, json!({"name": name}).to_string())
            }
            Deed::Rebuild { server: which, image } => {
                ("POST", server(which, "rebuild")?, json!({"image": image}).to_string())
            }
            Deed::Detach { server: which, network } => {
                let network = self.head(Kind::Network, network)?.id;
                ("POST", server(which, "detach_from_network")?, json!({"network": network}).to_string())
            }
        })
    }

    /// What is called so. A name of digits may be an id, too.
    fn head(&self, what: Kind, which: &Which) -> Result<&Head, DeedError> {
        let by_id = |id: u64| self.project.head(what, id);
        let found = match which {
            Which::Id(id) => by_id(*id),
            Which::Name(name) => {
                let ids = self.project.ids(what);
                let named = ids.into_iter().filter_map(by_id).find(|head| head.name == *name);
                named.or_else(|| by_id(name.parse().ok()?))
            }
        };
        found.ok_or_else(|| DeedError(format!("find {what} {which}: there is none")))
    }

    fn run_by_hand(&mut self, now: Time, method: &str, path: &str, body: &str) -> Result<(), Wrong> {
        let step = self.find_route(method, path)?;
        let Run::Change(change) = step.run else { return Err(Wrong::not_simulated(method, path)) };
        let call =
            Call { now, path, ids: step.ids, query: Query::parse(""), body: body.as_bytes(), agent: BY_HAND };
        change(&mut self.project, &call).map(drop)
    }
}
