//! What checks ask of a history: folds over its events, as pure functions that give small plain values.
//!
//! A fold reads the history once and gives *tracks*: what was seen of each object, in order, to be asked for any moment.
//! It judges nothing, and it never guesses: what the events do not show is `None`.
//!
//! **Order.** Calls are written down where they happen, when they are over, so their order among each other is right; so is that
//! of servers, and that of the objects of one kind. But servers and objects are seen by watchers of the harness, which run beside
//! the subject's calls: which of two came first, one of them seen and the other called, is known only if more than [`TIE`] lies
//! between them. Whoever compares the two leaves out what is closer than that, in favour of the subject.

mod budgets;
mod calls;
mod claims;
mod daemons;
mod faults;
mod groups;
mod leases;
mod machines;
mod nodes;
mod pods;
mod quantity;
mod replicas;
mod scaling;
mod servers;
mod steps;
mod track;

use std::time::Duration;

pub use budgets::{Budget, budgets};
pub use calls::{
    Eviction, GiveBack, NodeWrite, Order, asked_back, evictions, give_backs, node_deletions, node_writes,
    ordered_pool, orders, pod_deletions, status_writes,
};
pub use claims::{
    CLAIM_POOL_LABEL, Claim, ClaimCall, DISRUPTED_TAINTS, NodePool, TERMINATION, attachments,
    claim_creations, claim_deletions, claims, node_leases, node_pools,
};
pub use daemons::{Daemon, daemons};
pub use faults::{FaultSpell, began_phase, fault_spells, phase_event, worst_lag};
pub use groups::{Group, Set, groups, sets};
pub use leases::{Lease, leader_lease};
pub use machines::{DEPLOYMENT_LABEL, marks};
pub use nodes::{CANDIDATE_TAINT, Node, REMOVAL_TAINT, nodes};
pub use pods::{Mount, Pod, Toleration, pods};
pub use replicas::{hosts, resumptions, running, starts};
pub use scaling::{ScaleWrite, scale_writes};
pub use servers::{POOL_LABEL, Server, servers};
pub use steps::{missed, overdue};
pub use track::{Seen, Spell, Track, Tracks};

/// Of two things that one watch and one call have shown, closer together than this, nobody knows which came first.
pub const TIE: Duration = Duration::from_secs(1);
