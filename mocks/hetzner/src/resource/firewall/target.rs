//! What a firewall is applied to: a server, or all servers that a label selector finds.

use serde::{Deserialize, Serialize};

use crate::call::{Body, Selector};
use crate::project::Project;
use crate::resource::firewall::selects;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    Server(u64),
    Selector(String),
}

#[derive(Clone, Copy)]
enum Type {
    Server,
    Selector,
}

const TYPES: [(&str, Type); 2] = [("server", Type::Server), ("label_selector", Type::Selector)];

/// Reads a list of them.
pub(super) fn list(body: &mut Body, field: &str) -> Option<Vec<Target>> {
    Some(body.each(field, read)?.into_iter().flatten().collect())
}

fn read(item: &mut Body) -> Option<Target> {
    // Clients give back what they were shown.
    item.ignore("applied_to_resources");
    match item.needed("type", |item, field| item.word(field, &TYPES)) {
        Some(Type::Server) => Some(Target::Server(item.required("server", server))),
        Some(Type::Selector) => Some(Target::Selector(item.required("label_selector", selector))),
        None => {
            item.ignore("server");
            item.ignore("label_selector");
            None
        }
    }
}

fn server(item: &mut Body, field: &str) -> Option<u64> {
    item.object(field, |server| server.required("id", Body::id))
}

fn selector(item: &mut Body, field: &str) -> Option<String> {
    item.object(field, |inner| {
        let text = inner.required("selector", Body::text);
        match Selector::parse(&text) {
            Ok(selector) if selector == Selector::default() => inner.wrong("selector", "Must not be empty."),
            Ok(_) => {}
            Err(why) => inner.wrong("selector", why),
        }
        text
    })
}

impl Target {
    /// The servers it comes to at the moment.
    pub(super) fn servers(&self, project: &Project) -> Vec<u64> {
        match self {
            Self::Server(id) => vec![*id],
            Self::Selector(selector) => {
                let found = project.servers.all().filter(|server| selects(selector, server));
                found.map(|server| server.head.id).collect()
            }
        }
    }
}
