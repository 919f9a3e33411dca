//! Disruption budgets.

use std::collections::BTreeMap;

use super::Tracks;
use super::pods::{Pod, objects, strings};
use crate::history::History;

/// A disruption budget at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Where it counts.
    pub namespace: String,
    /// Pods with these labels.
    pub selects: BTreeMap<String, String>,
    /// It selects by more than labels: whom, is not told here.
    pub obscure: bool,
    /// How many may go, as its status tells it; `None` if it tells nothing yet.
    pub allowed: Option<i64>,
}

impl Budget {
    /// Whether it counts a pod.
    pub fn covers(&self, pod: &Pod) -> bool {
        self.namespace == pod.namespace
            && !self.obscure
            && self.selects.iter().all(|(key, value)| pod.labels.get(key) == Some(value))
    }
}

/// The tracks of all disruption budgets, by namespace and name.
pub fn budgets(history: &History) -> Tracks<String, Budget> {
    objects(history, "PodDisruptionBudget", |event| {
        let (spec, status) = (&event.object["spec"], &event.object["status"]);
        Some(Budget {
            namespace: event.namespace.clone(),
            selects: strings(&spec["selector"]["matchLabels"]),
            obscure: !spec["selector"]["matchExpressions"].is_null(),
            allowed: status["disruptionsAllowed"].as_i64(),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::query::leases::tests::{history, object};

    #[test]
    fn a_budget_is_read_from_its_object() {
        let history = history(vec![(
            0,
            object(
                "PodDisruptionBudget",
                "default",
                "web",
                json!({"spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": 0}}),
            ),
        )]);
        let budget = budgets(&history)["default/web"].last().cloned().unwrap();
        assert_eq!((budget.allowed, &*budget.selects["app"], budget.obscure), (Some(0), "web", false));
    }
}
