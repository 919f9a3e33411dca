//! The named ways of being wrong. Each breaks one promise, and as little else as possible.
//!
//! A defect is asked for where it matters, by [`Defects::has`], so that a search for its name finds all it does.

use std::collections::BTreeSet;
use std::fmt::Write as _;

macro_rules! defects {
    ($($variant:ident $name:literal $code:literal $what:literal,)*) => {
        /// One way of being wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Defect {
            $(#[doc = $what] $variant,)*
        }

        impl Defect {
            /// All of them, by the expectation that they violate.
            pub(crate) const ALL: &[Defect] = &[$(Defect::$variant,)*];

            /// What it is called on the command line.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Defect::$variant => $name,)* }
            }

            /// The code of the expectation that it violates.
            pub(crate) fn violates(self) -> &'static str {
                match self { $(Defect::$variant => $code,)* }
            }

            /// What it does, in half a sentence.
            pub(crate) fn what(self) -> &'static str {
                match self { $(Defect::$variant => $what,)* }
            }
        }
    };
}

defects! {
    IgnoresPendingPods "ignores-pending-pods" "SU-01" "buys nothing for pods that wait",
    DoubleBuysWhileUpcoming "double-buys-while-upcoming" "SU-02" "does not count machines that are on their way",
    BuysForImpossiblePods "buys-for-impossible-pods" "SU-03" "buys a machine for a pod that fits on none",
    IgnoresNodeSelector "ignores-node-selector" "SU-04" "chooses a pool without asking selector and affinity",
    BuysForExpendablePods "buys-for-expendable-pods" "SU-05" "buys for pods below the priority cutoff",
    BuysForNominatedPods "buys-for-nominated-pods" "SU-06" "buys for pods that wait for a preemption",
    IgnoresScaleUpDelay "ignores-scale-up-delay" "SU-07" "does not wait until a pod is old enough",
    ReversesPriorities "reverses-priorities" "SU-08" "prefers the pool with the lowest priority",
    NeedsPriorityMap "needs-priority-map" "SU-09" "buys nothing if the map of priorities cannot be read",
    PrefersWaste "prefers-waste" "SU-10" "prefers the pool with most waste",
    IgnoresPoolTaints "ignores-pool-taints" "SU-11" "believes that machines of an empty pool have no taints",
    ForgetsDaemonSets "forgets-daemon-sets" "SU-12" "believes that no daemon runs on a machine that it buys",
    IgnoresStartupTaints "ignores-startup-taints" "SU-14" "does not count nodes with a startup taint as on their way",
    CountsCordonedNodes "counts-cordoned-nodes" "SU-15" "sees room on cordoned nodes",
    IgnoresMax "ignores-max" "MM-01" "buys beyond the maximum of a pool",
    ShrinksBelowMin "shrinks-below-min" "MM-02" "removes nodes below the minimum of a pool",
    FillsMinWithoutFlag "fills-min-without-flag" "MM-03" "fills a pool to its minimum unasked",
    NeverFillsMin "never-fills-min" "MM-04" "does not fill a pool to its minimum though asked",
    ShrinksAboveMax "shrinks-above-max" "MM-05" "deletes what a pool has beyond its maximum",
    IgnoresNodesTotal "ignores-nodes-total" "MM-06" "buys beyond the limit of nodes",
    IgnoresCoresTotal "ignores-cores-total" "MM-07" "buys beyond the limits of cores and memory",
    RemovesUnregisteredBelowMin "removes-unregistered-below-min" "MM-08" "removes machines without a node below the minimum",
    RemovesTooEarly "removes-too-early" "SD-01" "removes a node after half the time it must be unneeded",
    RemovesTooLate "removes-too-late" "SD-01" "removes a node after twice the time it must be unneeded",
    NoPauseAfterScaleUp "no-pause-after-scale-up" "SD-02" "removes nodes right after a scale-up",
    NoPauseAfterFailure "no-pause-after-failure" "SD-03" "tries again right after a failed removal",
    DrainsSeveralAtOnce "drains-several-at-once" "SD-04" "drains several nodes at a time",
    RemovesAllEmptyAtOnce "removes-all-empty-at-once" "SD-05" "removes any number of empty nodes at a time",
    IgnoresUtilization "ignores-utilization" "SD-06" "drains nodes however full they are",
    DrainsWithoutRoom "drains-without-room" "SD-07" "drains nodes whose pods fit nowhere else",
    BuysBackWhatItRemoved "buys-back-what-it-removed" "SD-09" "buys a machine after each removal, for nobody",
    IgnoresScaleDownDisabled "ignores-scale-down-disabled" "SD-08" "removes nodes that are annotated against it",
    KeepsUnreadyNodes "keeps-unready-nodes" "SD-10" "never removes a node that is not ready",
    RemovesUnreadyUnasked "removes-unready-unasked" "SD-10" "removes nodes that are not ready though told not to",
    DeletesNodeObject "deletes-node-object" "SD-11" "deletes the node after its machine",
    DaemonSetsBlock "daemon-sets-block" "SD-12" "does not remove nodes on which a daemon runs",
    KeepsLastNode "keeps-last-node" "SD-13" "never removes the last node of a pool",
    IgnoresBudgets "ignores-budgets" "SF-01" "deletes pods instead of asking for their eviction",
    DeletesDespiteFailedEvictions "deletes-despite-failed-evictions" "SF-02" "deletes the machine though pods could not be evicted",
    WaitsForPodsForEver "waits-for-pods-for-ever" "SF-03" "keeps the machine of a pod that never ends",
    EvictsSystemPods "evicts-system-pods" "SF-04" "lets no system pod block",
    SystemPodsAlwaysBlock "system-pods-always-block" "SF-05" "lets system pods block whatever lifts it",
    IgnoresSafeToEvict "ignores-safe-to-evict" "SF-06" "evicts pods that are annotated against it",
    IgnoresLocalStorage "ignores-local-storage" "SF-07" "evicts pods with local storage",
    EvictsBarePods "evicts-bare-pods" "SF-08" "evicts pods that nobody would create again",
    IgnoresMinReplicaCount "ignores-min-replica-count" "SF-09" "evicts pods of sets that are too small",
    EvictsBeforeTainting "evicts-before-tainting" "SF-10" "evicts before the node is tainted",
    DeletesThoughPodArrived "deletes-though-pod-arrived" "SF-11" "deletes an empty node though a pod has arrived",
    IgnoresDelayDeletion "ignores-delay-deletion" "SF-12" "does not wait for annotations that delay deletion",
    ActsBeforeSync "acts-before-sync" "SF-13" "decides before its caches are filled",
    TouchesForeignServers "touches-foreign-servers" "SF-14" "takes servers without a label for its own",
    NeverBacksOff "never-backs-off" "BO-01" "tries a failing pool in every loop",
    BacksOffAllPools "backs-off-all-pools" "BO-02" "lets no pool be used after one has failed",
    TakesConflictsForFailures "takes-conflicts-for-failures" "BO-06" "leaves a machine deployment alone after a write conflict",
    WaitsForFailedMachines "waits-for-failed-machines" "BO-08" "waits for machines that have failed",
    IgnoresRollOuts "ignores-roll-outs" "SD-14" "removes nodes of a machine deployment that is being rolled out",
    IgnoresPauses "ignores-pauses" "SD-15" "scales machine deployments that are paused",
    LowersWithoutMarking "lowers-without-marking" "SF-15" "makes a machine deployment smaller without marking who shall go",
    LeavesMarks "leaves-marks" "HY-09" "leaves the mark of a machine that could not go",
    ReadsLimitsOnce "reads-limits-once" "MM-09" "reads the bounds of machine deployments once",
    OmitsZero "omits-zero" "SD-13" "cannot write a size of zero",
    NeverForgives "never-forgives" "BO-03" "uses a pool never again once it has failed",
    TrustsPhantoms "trusts-phantoms" "BO-04" "counts machines on their way that never come",
    DropsPartialSuccess "drops-partial-success" "BO-05" "deletes what was bought if not all could be",
    BrokenPoolStopsAll "broken-pool-stops-all" "BO-07" "buys nothing while the type of one pool is unknown",
    HammersWhenLimited "hammers-when-limited" "FT-01" "asks again at once when told to slow down",
    TrustsFailedList "trusts-failed-list" "FT-02" "takes a failed list of servers for an empty one",
    DestroysOnPollError "destroys-on-poll-error" "FT-03" "deletes a new server when one look at its actions fails",
    LeaksFailedServer "leaks-failed-server" "FT-04" "forgets servers whose creation has failed",
    DoublesConflictWait "doubles-conflict-wait" "FT-05" "waits twice as long after every conflict, without limit",
    AlwaysHealthy "always-healthy" "FT-06" "waits for the cloud for ever, and reports good health",
    HurriesTheFirstLoop "hurries-the-first-loop" "FT-21" "is unwell before its first loop has had its time",
    NeverListsServersAgain "never-lists-servers-again" "FT-07" "does not notice servers that others delete",
    RepeatsLostCreate "repeats-lost-create" "FT-08" "creates again when the answer was lost",
    GivesUpLeaseAtOnce "gives-up-lease-at-once" "FT-09" "ends when its lease cannot be renewed once",
    ActsWithoutLease "acts-without-lease" "FT-10" "acts while another holds the lease",
    NeverListsAgain "never-lists-again" "FT-11" "does not list again when the version that it watches from is gone",
    LeavesOldTaints "leaves-old-taints" "FT-13" "leaves the taints of a predecessor",
    ScalesUnhealthyCluster "scales-unhealthy-cluster" "FT-15" "scales though too many nodes are not ready",
    LeavesTaintOnFailure "leaves-taint-on-failure" "FT-16" "leaves a node tainted whose removal has failed",
    ReplacesSlowNodes "replaces-slow-nodes" "FT-17" "does not count nodes on their way that are not ready yet",
    KeepsNeverReadyNodes "keeps-never-ready-nodes" "FT-18" "waits for ever for nodes to become ready for the first time",
    NeedsProviderId "needs-provider-id" "FT-19" "deletes servers whose ready nodes lack a provider id",
    ForgetsFailedRemovals "forgets-failed-removals" "HY-01" "takes a removal that has failed for done",
    LeaksUnregisteredServers "leaks-unregistered-servers" "HY-02" "keeps servers that never become nodes",
    RemovesUnregisteredEarly "removes-unregistered-early" "HY-02" "gives servers half the time to become nodes",
    LeaksTimedOutServer "leaks-timed-out-server" "HY-03" "forgets servers whose creation takes too long",
    DestroysFinishedServer "destroys-finished-server" "HY-04" "looks at a slow creation for half its time, and deletes the server at its end",
    LeavesSoftTaints "leaves-soft-taints" "HY-05" "leaves soft taints on nodes that are needed again",
    WritesStatusOnce "writes-status-once" "HY-06" "writes its status once",
    TellsNoEvents "tells-no-events" "HY-07" "tells nobody what it does",
    ListsInEveryLoop "lists-in-every-loop" "HY-08" "asks for all servers in every loop",
    AcceptsBadPools "accepts-bad-pools" "CF-01" "starts though a pool has no configuration",
    IgnoresCreationTimeout "ignores-creation-timeout" "CF-02" "gives servers five minutes whatever it is told",
    StartsLate "starts-late" "CF-05" "waits for almost two minutes before it begins",
    TakesAnyImage "takes-any-image" "CF-03" "takes the first image that there is",
    KeepsEmptyNodes "keeps-empty-nodes" "KD-01" "never removes an empty node",
    WaitsWhilePodsCome "waits-while-pods-come" "KD-02" "removes no node while pods keep coming",
    ConsolidatesTooEarly "consolidates-too-early" "KD-03" "does not wait for `consolidateAfter`",
    RemovesUsedEmpties "removes-used-empties" "KD-04" "removes used nodes of a pool that says `WhenEmpty`",
    IgnoresNever "ignores-never" "KD-06" "consolidates though the pool says Never",
    IgnoresPoolBudgets "ignores-pool-budgets" "KD-07" "disrupts any number of nodes at a time",
    IgnoresDoNotDisrupt "ignores-do-not-disrupt" "KD-12" "disrupts nodes with pods that say do-not-disrupt",
    IgnoresNodeDoNotDisrupt "ignores-node-do-not-disrupt" "KD-14" "disrupts nodes that say do-not-disrupt",
    DisruptsDespiteBudgets "disrupts-despite-budgets" "KD-15" "disrupts nodes with pods that may not be evicted",
    SkipsDisruptionTaint "skips-disruption-taint" "KD-16" "does not taint nodes that it has chosen",
    ReplacesTooLate "replaces-too-late" "KD-17" "removes a node before its replacement is there",
    LeavesDisruptionTaint "leaves-disruption-taint" "KD-18" "leaves the taint on nodes that it does not remove",
    NeverDrifts "never-drifts" "KD-19" "does not notice that a pool has changed",
    DriftsByWeight "drifts-by-weight" "KD-20" "takes another weight of a pool for drift",
    KeepsEmptyDrifted "keeps-empty-drifted" "KD-22" "removes drifted nodes only if they are not empty",
    BuysForStuckPods "buys-for-stuck-pods" "KD-26" "buys for pods that may not leave their node",
    ClaimsWithoutFinalizer "claims-without-finalizer" "KL-01" "launches claims that nothing holds",
    RegistersByHalves "registers-by-halves" "KL-02" "registers nodes without finalizer and owner",
    InitializesTooEarly "initializes-too-early" "KL-05" "takes nodes for initialised that are not ready",
    DisruptsStartingNodes "disrupts-starting-nodes" "KL-06" "gives up nodes that start slowly",
    OverwritesTaints "overwrites-taints" "KL-12" "overwrites the taints of others",
    LeavesClaimsOfDeletedNodes "leaves-claims-of-deleted-nodes" "KT-01" "does not notice that a node is deleted by hand",
    KillsPods "kills-pods" "KT-03" "deletes pods instead of evicting them",
    IgnoresAttachments "ignores-attachments" "KT-05" "does not wait for volumes to be detached",
    DrainsForEver "drains-for-ever" "KT-09" "forgets the termination grace period",
    NeverExpires "never-expires" "KT-11" "lets nodes become as old as they like",
    EvictsPinnedPods "evicts-pinned-pods" "KT-12" "evicts pods that say do-not-disrupt",
    NeverLetsGo "never-lets-go" "KT-13" "keeps the finalizer of claims whose node is gone",
    LeavesLeases "leaves-leases" "KT-17" "does not collect leases of nobody",
    TiresUntilRestarted "tires-until-restarted" "KM-01" "disrupts nothing after its first five minutes",
    TouchesForeignNodes "touches-foreign-nodes" "KM-05" "labels nodes that are of no pool",
    BuysForUntoldPods "buys-for-untold-pods" "KP-03" "buys for pods that the scheduler has not found unschedulable",
    IgnoresMissingNetwork "ignores-missing-network" "CF-07" "buys without the network that it cannot find",
}

/// Which of them this process has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defects(BTreeSet<Defect>);

impl Defects {
    /// Whether it has this one.
    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.0.contains(&defect)
    }
}

impl FromIterator<Defect> for Defects {
    fn from_iter<I: IntoIterator<Item = Defect>>(defects: I) -> Self {
        Self(defects.into_iter().collect())
    }
}

/// The names of all of them.
pub fn names() -> impl Iterator<Item = &'static str> {
    Defect::ALL.iter().map(|defect| defect.name())
}

/// The defect of that name.
pub(crate) fn parse(name: &str) -> Result<Defect, String> {
    let found = Defect::ALL.iter().find(|defect| defect.name() == name);
    found.copied().ok_or_else(|| "no such defect: --defects lists them".to_owned())
}

/// All of them, one a line.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for defect in Defect::ALL {
        let _ = writeln!(text, "{:<34} {}  {}", defect.name(), defect.violates(), defect.what());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for defect in Defect::ALL {
            assert_eq!(parse(defect.name()), Ok(*defect));
        }
        assert!(parse("none").is_err());
    }

    #[test]
    fn enough_expectations_have_a_defect() {
        let codes: BTreeSet<_> = Defect::ALL.iter().map(|defect| defect.violates()).collect();
        assert!(codes.len() >= 40, "{}", codes.len());
        assert_eq!(list().lines().count(), Defect::ALL.len());
    }
}
