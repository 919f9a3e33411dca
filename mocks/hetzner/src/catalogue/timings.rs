//! How long actions take.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::field::{Field, Fields};

/// Every command an action can have, so that a timing of a misspelt one is no silent nothing.
pub(crate) const COMMANDS: [&str; 62] = [
    "add_route",
    "add_service",
    "add_subnet",
    "add_target",
    "add_to_placement_group",
    "apply_firewall",
    "assign_floating_ip",
    "assign_primary_ip",
    "attach_iso",
    "attach_to_network",
    "attach_volume",
    "change_algorithm",
    "change_alias_ips",
    "change_dns_ptr",
    "change_ip_range",
    "change_load_balancer_type",
    "change_protection",
    "change_server_type",
    "create_certificate",
    "create_floating_ip",
    "create_image",
    "create_load_balancer",
    "create_primary_ip",
    "create_server",
    "create_volume",
    "delete_firewall",
    "delete_floating_ip",
    "delete_image",
    "delete_load_balancer",
    "delete_network",
    "delete_primary_ip",
    "delete_route",
    "delete_server",
    "delete_service",
    "delete_subnet",
    "delete_volume",
    "detach_from_network",
    "detach_iso",
    "detach_volume",
    "disable_backup",
    "disable_public_interface",
    "disable_rescue",
    "enable_backup",
    "enable_public_interface",
    "enable_rescue",
    "issue_certificate",
    "reboot_server",
    "rebuild_server",
    "remove_firewall",
    "remove_from_placement_group",
    "remove_target",
    "request_console",
    "reset_password",
    "reset_server",
    "resize_volume",
    "set_firewall_rules",
    "shutdown_server",
    "start_server",
    "stop_server",
    "unassign_floating_ip",
    "unassign_primary_ip",
    "update_service",
];

/// How long one action takes: anything between `mean - spread` and `mean + spread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// In the middle.
    pub mean: Duration,
    /// By how much at most it is less or more.
    pub spread: Duration,
}

/// How long each command takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Timings {
    /// Commands that are not listed.
    pub default: Timing,
    /// Those that are.
    pub commands: BTreeMap<String, Timing>,
}

/// The map `timings`.
pub(super) fn read(whole: Field<'_>) -> Option<Timings> {
    let fields = whole.fields()?;
    let default = fields.need("default").and_then(timing);
    let mut commands = BTreeMap::new();
    if let Some(listed) = fields.need("commands").and_then(Field::fields) {
        for (command, place, field) in listed.all() {
            if !COMMANDS.contains(&command) {
                field.sheet.wrong(place, format!("there is no command {command}{}", nearest(command)));
            }
            if let Some(timing) = timing(field) {
                commands.insert(command.to_owned(), timing);
            }
        }
    }
    fields.done();
    Some(Timings { default: default?, commands })
}

/// The commands that have a word in common with one that does not exist.
fn nearest(command: &str) -> String {
    let words: Vec<&str> = command.split('_').filter(|word| word.len() > 2).collect();
    let alike = |known: &&str| known.split('_').any(|word| words.contains(&word));
    let alike: Vec<&str> = COMMANDS.into_iter().filter(alike).collect();
    if alike.is_empty() { String::new() } else { format!("; there are {}", alike.join(", ")) }
}

/// `{mean: 6, spread: 2}`, in seconds.
fn timing(field: Field<'_>) -> Option<Timing> {
    let fields: Fields<'_> = field.fields()?;
    let seconds = |name| {
        let seconds = fields.need(name)?.float(0.0..=86_400.0)?;
        Some(Duration::from_secs_f64(seconds))
    };
    let (mean, spread) = (seconds("mean"), seconds("spread"));
    fields.done();
    let (mean, spread) = (mean?, spread?);
    if spread > mean {
        fields.whole.wrong("has a spread beyond its mean, so that it could take less than no time");
    }
    Some(Timing { mean, spread })
}
