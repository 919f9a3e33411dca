//! What is sold: machines whose name says what they have, as the kwok provider of Karpenter calls them.

use std::collections::BTreeMap;

use crate::view::Resources;

/// A machine that can be had.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) architecture: String,
    pub(super) has: Resources,
}

impl Machine {
    /// `c-4x-amd64-linux`: family, processors, architecture, system.
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        let gib = match parts.next()? {
            "c" => 2,
            "s" => 4,
            "m" => 8,
            _ => return None,
        };
        let processors: u64 = parts.next()?.strip_suffix('x')?.parse().ok()?;
        let architecture = parts.next()?.to_owned();
        let memory = (processors * gib) << 30;
        let has = Resources { cpu: processors * 1000, memory, pods: 110, other: BTreeMap::new() };
        Some(Self { name: name.to_owned(), architecture, has })
    }

    /// As an object tells it.
    pub(super) fn quantities(&self) -> serde_json::Value {
        serde_json::json!({"cpu": format!("{}m", self.has.cpu), "memory": format!("{}", self.has.memory),
            "pods": self.has.pods.to_string(), "ephemeral-storage": "20Gi"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_there_is() {
        let machine = Machine::named("s-4x-arm64-linux").unwrap();
        assert_eq!((machine.has.cpu, machine.has.memory >> 30, &*machine.architecture), (4000, 16, "arm64"));
        assert_eq!(Machine::named("cx33"), None);
    }
}
