//! SD-11. Whoever owns the cloud removes the object once the server is gone; a request of the subject to
//! delete one convicts, whatever its answer. Put to the test by each server that it gives back.
//!
//! The subject is each request. Nothing excuses it, and no latency is in it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  DELETE /api/v1/nodes/small-a
//! ```
//!
//! It does not catch objects that others delete on its behalf.

use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, query};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-11"),
    promise: "The subject does not delete Node objects",
    cite: &[faq!("How does Cluster Autoscaler remove nodes?", "how-does-cluster-autoscaler-remove-nodes")],
    level: Level::Must,
    kind: Kind::Hygiene,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let mut tally = Tally::default();
    for _ in query::give_backs(history) {
        tally.exercised();
    }
    for deletion in query::node_deletions(history) {
        tally.violated(format!("the subject deleted the object of node {}", deletion.node), [deletion.event]);
    }
    tally.verdict("nothing was given back")
}
