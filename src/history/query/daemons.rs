//! Daemon sets: what runs on every node that they choose.

use super::Tracks;
use super::pods::{Toleration, asks, list, objects, picky, strings, toleration};
use crate::history::History;
use crate::terms::{Room, Taint};

/// A daemon set at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Daemon {
    /// What each of its pods asks for.
    pub asks: Room,
    /// Taints they do not mind.
    pub tolerations: Vec<Toleration>,
    /// It chooses nodes by more than their taints: which, is not told here.
    pub choosy: bool,
}

impl Daemon {
    /// Whether one of its pods is sure to run on any node with these taints.
    pub fn runs_under(&self, taints: &[Taint]) -> bool {
        let minds = |taint: &&Taint| {
            taint.effect != "PreferNoSchedule" && !self.tolerations.iter().any(|one| one.tolerates(taint))
        };
        !self.choosy && !taints.iter().any(|taint| minds(&taint))
    }
}

/// The tracks of all daemon sets, by namespace and name.
pub fn daemons(history: &History) -> Tracks<String, Daemon> {
    objects(history, "DaemonSet", |event| {
        let spec = &event.object["spec"]["template"]["spec"];
        Some(Daemon {
            asks: asks(spec),
            tolerations: list(&spec["tolerations"]).iter().map(toleration).collect(),
            choosy: !strings(&spec["nodeSelector"]).is_empty() || picky(spec),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::query::leases::tests::{history, object};

    #[test]
    fn a_daemon_set_runs_where_nothing_keeps_it_away() {
        let template = |spec| json!({"spec": {"template": {"spec": spec}}});
        let tolerant = json!({
            "containers": [{"resources": {"requests": {"cpu": "2"}}}],
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
        });
        let history = history(vec![
            (0, object("DaemonSet", "default", "agent", template(tolerant))),
            (0, object("DaemonSet", "default", "other", template(json!({"nodeSelector": {"a": "b"}})))),
        ]);
        let daemons = daemons(&history);
        let gpu = Taint { key: "gpu".into(), value: String::new(), effect: "NoSchedule".into() };
        let metal = Taint { key: "metal".into(), ..gpu.clone() };
        let runs =
            |name: &str, taints: &[Taint]| daemons[name].last().is_some_and(|one| one.runs_under(taints));
        assert_eq!(daemons["default/agent"].last().map(|one| one.asks.cpu_milli), Some(2000));
        assert!(
            runs("default/agent", &[]) && runs("default/agent", &[gpu]) && !runs("default/agent", &[metal])
        );
        assert!(!runs("default/other", &[]));
    }
}
