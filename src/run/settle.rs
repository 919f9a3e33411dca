//! A steady state, proven before anything is done: all replicas run and are well, one of them leads, and it has looked
//! round as the leader.

use std::time::Duration;

use mock_clock::{Clock as _, Time};

use super::Order;
use super::stage::Stage;
use crate::history::What;
use crate::subject::LeaseName;
use crate::terms::{Api, Timer};

/// How long the subject may take until it is well.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often it is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// One that has ended so often before it was ever well does not stay.
const ENDS: u32 = 3;
/// How often a subject scans, if it has no such timer.
const SCAN: Duration = Duration::from_secs(10);

impl Stage {
    /// Waits until the subject is steady; says what is missing if it does not come to that, which reads after "failed
    /// to". One that does not stay is no mistake of whoever runs it: it is what is found out about this build.
    pub(super) async fn settle(&self, order: &Order) -> Option<String> {
        let deadline = self.clock.now() + PATIENCE;
        let scan = order.plan.timers.get(&Timer::ScanInterval).map_or(SCAN, |period| period.0);
        let lease = order.profile.leader_lease();
        let mut leader = None;
        loop {
            let missing = self.unsteady(lease.as_ref(), scan, &mut leader);
            let missing = missing?;
            for replica in self.cast.replicas() {
                let (times, error) = replica.ends();
                if times >= ENDS {
                    return Some(error.to_string());
                }
            }
            if self.clock.now() >= deadline {
                return Some(format!("reach a steady state within {} s: {missing}", PATIENCE.as_secs()));
            }
            self.clock.sleep(LOOK).await;
        }
    }

    /// What is missing to a steady state. `leader` is who was seen to lead, and since when.
    fn unsteady(
        &self,
        lease: Option<&LeaseName>,
        scan: Duration,
        leader: &mut Option<(String, Time)>,
    ) -> Option<String> {
        let replicas = self.cast.replicas();
        if let Some(complaint) = replicas.iter().find_map(|replica| replica.complaint()) {
            return Some(complaint);
        }
        let now = self.clock.now();
        let holder = match lease {
            None => String::new(),
            Some(lease) => match self.holder(lease) {
                None => {
                    *leader = None;
                    return Some(format!("nobody holds the lease {}/{}", lease.namespace, lease.name));
                }
                Some(holder) => holder,
            },
        };
        let since = match leader {
            Some((known, since)) if *known == holder => *since,
            _ => leader.insert((holder, now)).1,
        };
        // Who is alone need not lead first: whatever it has asked for counts, and it may watch in silence from then on.
        let looked = if lease.is_some() { since } else { Time::EPOCH };
        if now - since < scan || !self.has_looked_round(looked) {
            return Some("the leader has not looked round yet".to_owned());
        }
        None
    }

    /// Who holds a lease: the host name, which a random number may follow.
    pub(super) fn holder(&self, lease: &LeaseName) -> Option<String> {
        let lease = self.observer.live().object("Lease", &lease.namespace, &lease.name)?;
        let holder = lease["spec"]["holderIdentity"].as_str()?.split('_').next()?;
        (!holder.is_empty()).then(|| holder.to_owned())
    }

    /// Whether anybody has asked for more than his lease, and been answered, since then or while he became the leader.
    fn has_looked_round(&self, since: Time) -> bool {
        let since = since - LOOK;
        self.recorder.events().iter().rev().take_while(|event| event.at >= since).any(|event| {
            match &event.what {
                What::Call(call) => {
                    let elects = call.to == Api::Kubernetes && call.path.contains("/leases");
                    !elects && (200..300).contains(&call.status)
                }
                _ => false,
            }
        })
    }
}
