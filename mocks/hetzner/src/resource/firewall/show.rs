//! A firewall as the API shows it.

use serde_json::{Value, json};

use crate::call::show::moment;
use crate::project::Project;
use crate::resource::firewall::Firewall;
use crate::resource::firewall::rule::Rule;
use crate::resource::firewall::target::Target;

pub(super) fn show(project: &Project, firewall: &Firewall) -> Value {
    let servers = firewall.servers.iter().map(|id| server(*id));
    let selectors = firewall.selectors.iter().map(|selector| by_selector(project, firewall, selector));
    json!({
        "id": firewall.head.id,
        "name": firewall.head.name,
        "labels": firewall.head.labels,
        "created": moment(firewall.head.created),
        "rules": firewall.rules.iter().map(Rule::show).collect::<Vec<_>>(),
        "applied_to": servers.chain(selectors).collect::<Vec<_>>(),
    })
}

fn server(id: u64) -> Value {
    json!({"type": "server", "server": {"id": id}})
}

/// Servers that it was applied to by their ids stand for themselves.
fn by_selector(project: &Project, firewall: &Firewall, selector: &str) -> Value {
    let found = Target::Selector(selector.to_owned()).servers(project);
    let reached = found.into_iter().filter(|id| !firewall.servers.contains(id)).map(server);
    json!({
        "type": "label_selector",
        "label_selector": {"selector": selector},
        "applied_to_resources": reached.collect::<Vec<_>>(),
    })
}
