//! Which things and which calls a trouble concerns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::{Request, Selector};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::server::Server;
use crate::resource::shelf::Head;

/// Some of the things there are. What is left out does not matter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Things {
    /// The one of this id.
    pub id: Option<u64>,
    /// Whose name is like this.
    pub name: Option<String>,
    /// Whose labels this selector picks, as in lists: `role=worker,!spare`.
    pub labels: Option<String>,
    /// Servers whose type is like this.
    pub server_type: Option<String>,
    /// Servers whose location is like this.
    pub location: Option<String>,
}

/// Some of the calls that come in. What is left out does not matter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Of this method; `change` is any but GET.
    pub method: Option<String>,
    /// Whose path below the version is like this, as `/servers/*`. With a question mark in it the query counts too.
    pub path: Option<String>,
    /// From clients whose user agent is like this.
    pub agent: Option<String>,
    /// About something whose name is like this: the one in the body, or that of the thing in the path.
    pub name: Option<String>,
}

/// Whether a text is like a pattern, in which `*` stands for any characters, or none.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The same; no pattern is like everything.
pub(crate) fn likes(pattern: Option<&String>, text: &str) -> bool {
    pattern.is_none_or(|pattern| fits(pattern, text))
}

impl Things {
    /// Whether it is left to all things.
    fn all(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn holds_server(&self, server: &Server) -> bool {
        self.holds(&server.head)
            && likes(self.server_type.as_ref(), &server.server_type)
            && likes(self.location.as_ref(), &server.location)
    }

    fn holds(&self, head: &Head) -> bool {
        self.id.is_none_or(|id| id == head.id)
            && likes(self.name.as_ref(), &head.name)
            && self
                .labels
                .as_ref()
                .is_none_or(|text| Selector::parse(text).is_ok_and(|selector| selector.matches(&head.labels)))
    }

    /// Whether one of them is among those that some work is about. Who has just gone still counts.
    pub(crate) fn any(&self, project: &Project, resources: &[(Kind, u64)]) -> bool {
        self.all()
            || resources.iter().any(|(kind, id)| match kind {
                Kind::Server => project
                    .servers
                    .find(*id)
                    .or(project.troubles.gone.as_ref().filter(|gone| gone.head.id == *id))
                    .is_some_and(|server| self.holds_server(server)),
                _ if self.server_type.is_some() || self.location.is_some() => false,
                _ => project.head(*kind, *id).is_some_and(|head| self.holds(head)),
            })
    }
}

impl Calls {
    /// Whether a request is one of them.
    pub(crate) fn hold(&self, project: &Project, request: &Request, path: &str) -> bool {
        let method = |method: &str| match method {
            "change" => request.method != "GET",
            method => method.eq_ignore_ascii_case(&request.method),
        };
        self.method.as_deref().is_none_or(method)
            && self.path.as_ref().is_none_or(|pattern| {
                if pattern.contains('?') {
                    fits(pattern, &format!("{path}?{}", request.query))
                } else {
                    fits(pattern, path)
                }
            })
            && likes(self.agent.as_ref(), &request.agent)
            && self
                .name
                .as_ref()
                .is_none_or(|pattern| named(project, request, path).iter().any(|name| fits(pattern, name)))
    }
}

/// The names that a request is about: in its body, and of the thing in its path.
fn named(project: &Project, request: &Request, path: &str) -> Vec<String> {
    let body: Option<serde_json::Value> = serde_json::from_slice(&request.body).ok();
    let given = body.and_then(|body| body.get("name")?.as_str().map(str::to_owned));
    let mut segments = path.split('/').skip(1);
    let kind = segments.next().and_then(Kind::of_path);
    let id = segments.next().and_then(|id| id.parse().ok());
    let there = kind.zip(id).and_then(|(kind, id)| project.head(kind, id)).map(|head| head.name.clone());
    given.into_iter().chain(there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        let likes = [
            ("cx23", "cx23"),
            ("*", ""),
            ("*", "x"),
            ("cp*", "cpx11"),
            ("*/actions/*", "/servers/1/actions/poweron"),
            ("a*b*c", "aXbYbc"),
            ("/servers*page=2*", "/servers?per_page=5&page=2"),
        ];
        for (pattern, text) in likes {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        let dislikes =
            [("cx23", "cx233"), ("", "x"), ("a*a", "a"), ("a*b", "ab-"), ("*x*", "y"), ("b*", "ab")];
        for (pattern, text) in dislikes {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
