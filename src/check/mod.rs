//! Deciding expectations from a history. Pure: no file, no clock, no drawing; the same history always gives the same
//! verdicts.
//!
//! One property a file, with the promise it decides, the smallest history that violates it, and what it does not catch.
//! [`catalogue()`] lists them all; [`judge()`] asks those that a history is about.

/// A heading of cluster-autoscaler's FAQ.
macro_rules! faq {
    ($heading:literal, $anchor:literal) => {
        $crate::check::Citation {
            where_: concat!("cluster-autoscaler FAQ, \"", $heading, "\""),
            url: concat!(
                "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#",
                $anchor
            ),
        }
    };
}

/// A heading of a page of Karpenter's documents.
macro_rules! karpenter {
    ($heading:literal, $page:literal) => {
        $crate::check::Citation {
            where_: concat!("Karpenter, ", $heading),
            url: concat!("https://karpenter.sh/docs/", $page, "/"),
        }
    };
}

/// A flag, as its help in the table of parameters tells it.
macro_rules! flag {
    ($flag:literal) => {
        $crate::check::Citation {
            where_: concat!("cluster-autoscaler, help of ", $flag),
            url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#what-are-the-parameters-to-ca",
        }
    };
}

/// An issue or pull request of cluster-autoscaler.
macro_rules! thread {
    ($number:literal) => {
        $crate::check::Citation {
            where_: concat!("kubernetes/autoscaler #", $number),
            url: concat!("https://github.com/kubernetes/autoscaler/issues/", $number),
        }
    };
}

mod arrivals;
mod asserted;
mod backoff;
mod blocked;
mod bounds;
mod catalogue;
mod causes;
mod configuration;
mod expectation;
mod fault_tolerance;
mod fit;
mod freed;
mod hygiene;
mod judge;
mod karpenter;
mod leftovers;
mod making;
mod maximum;
mod name;
mod pod_safety;
mod reaction;
mod scale_down;
mod scale_up;
mod scene;
mod unregistered;
mod vacancy;
mod verdict;

pub use catalogue::{catalogue, explain};
pub use expectation::{Citation, Expectation, Kind, Level, Versions};
pub use judge::{Judged, Judgement, LAG_LIMIT, Outcome, SEEN, judge, nothing_applies, too_late};
pub use name::Name;
pub use verdict::{Evidence, Tally, Verdict};

use crate::terms::Provider;

/// What every provider shows: machines that are bought, become nodes, and are given back.
const EVERYBODY: &[Provider] = &Provider::ALL;
/// What only the servers and calls of the cloud show.
const HETZNER: &[Provider] = &[Provider::Hetzner];
/// Whoever may buy servers of the cloud.
const BUYERS_OF_SERVERS: &[Provider] = &[Provider::Hetzner, Provider::Karpenter];
/// What only machine deployments show.
const CLUSTERAPI: &[Provider] = &[Provider::Clusterapi];
/// What cluster-autoscaler promises wherever it buys nodes.
const CLUSTER_AUTOSCALER: &[Provider] = &[Provider::Hetzner, Provider::Clusterapi];
/// What only claims show.
const KARPENTER: &[Provider] = &[Provider::Karpenter];
