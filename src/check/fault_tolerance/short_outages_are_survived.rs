//! FT-09. A process that nobody ended does not end after it failed to renew its lease, before the renew deadline has passed
//! since it last could. The subject of the promise is the single process; it is judged at its end. Excused is who was told to
//! end, killed, stopped or found unwell since it last renewed, and whatever the run ends itself. The end must come a second
//! before the deadline.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  PUT of the lease: 200
//! 2 s  PUT of the lease: no answer
//! 3 s  the subject ends
//! ```
//!
//! It does not catch what the next process makes of it: that is SU-02 and HY-01.

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed, went_wrong};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{Event, History, Phase, SubjectChange, What};
use crate::terms::{Api, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-09"),
    promise: "An outage of the API that is shorter than the renew deadline of the lease does not end the subject",
    cite: &[flag!("--leader-elect-renew-deadline")],
    level: Level::Must,
    kind: Kind::FaultTolerance,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// What has become of the lease of one process.
#[derive(Default)]
struct Lease {
    renewed: Option<Time>,
    /// The first call that went wrong since.
    failed: Option<usize>,
    /// The process was ended by the harness.
    told: bool,
}

fn check(history: &History) -> Verdict {
    timed(history, [Timer::LeaseRenewDeadline], |scene, [deadline]| {
        let mut tally = Tally::default();
        for replica in 0..history.header.subject.replicas {
            let mut lease = Lease::default();
            // What follows the account is the end that the harness puts to everybody.
            let until_account =
                |(_, happened): &(usize, &Event)| !matches!(happened.what, What::Phase(Phase::Account));
            for (event, happened) in history.events.iter().enumerate().take_while(until_account) {
                match &happened.what {
                    What::Call(call) if call.to == Api::Kubernetes && call.replica == replica => {
                        let renews = call.path.ends_with("/leases/cluster-autoscaler") && !call.open;
                        if renews && went_wrong(call) {
                            lease.failed.get_or_insert(event);
                        } else if renews && call.method != "GET" && call.status == 200 {
                            survived(scene, &mut tally, replica, &lease, happened.at);
                            lease = Lease { renewed: Some(happened.at), ..Lease::default() };
                        }
                    }
                    What::Subject(subject) if subject.replica == replica => match subject.change {
                        SubjectChange::Started { .. } => lease = Lease::default(),
                        SubjectChange::Killed | SubjectChange::Paused | SubjectChange::Unwell { .. } => {
                            lease.told = true;
                        }
                        SubjectChange::Exited { .. } => {
                            if let (Some(renewed), Some(failed), false) =
                                (lease.renewed, lease.failed, lease.told)
                                && happened.at + TIE < renewed + deadline
                            {
                                let after = (happened.at - renewed).as_secs();
                                let says = format!(
                                    "replica {replica} ended {after} s after it had last renewed its lease"
                                );
                                tally.violated(says, [failed, event]);
                            }
                        }
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        tally.verdict("no lease failed to be renewed and was renewed later")
    })
}

fn survived(scene: &Scene<'_>, tally: &mut Tally, replica: u32, lease: &Lease, now: Time) {
    let since = lease.renewed.filter(|_| lease.failed.is_some());
    if since.is_some_and(|since| scene.same(replica, since, now)) {
        tally.exercised();
    }
}
