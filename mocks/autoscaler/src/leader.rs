//! Leader election by a lease: whoever holds it acts, and whoever cannot renew it ends.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, PostParams};
use mock_clock::{Clock as _, Time};

use crate::defect::Defect;
use crate::kubernetes::{KubeClient, Refusal};
use crate::settings::Settings;

/// Until when the lease is surely ours: a process that was frozen must not act on what it knew.
#[derive(Clone, Debug)]
pub(crate) struct Term(Arc<Mutex<Time>>);

impl Term {
    /// One that never ends, for who needs no lease.
    pub(crate) fn endless() -> Self {
        Self(Arc::new(Mutex::new(Time::NEVER)))
    }

    pub(crate) fn holds(&self, now: Time) -> bool {
        now < *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn extend(&self, until: Time) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

/// A candidate, and then a leader.
#[derive(Debug)]
pub(crate) struct Leader {
    client: KubeClient,
    name: String,
    identity: String,
    lasts: Duration,
    deadline: Duration,
    retry: Duration,
    gives_up_at_once: bool,
    /// The lease as it was last seen to change, and when that was by our clock.
    seen: Option<(LeaseSpec, Time)>,
    /// The lease as we wrote it last: as long as it is surely ours, it is renewed without asking what it says.
    written: Option<Lease>,
    term: Term,
}

impl Leader {
    pub(crate) fn new(client: KubeClient, settings: &Settings) -> Self {
        let arguments = &settings.arguments;
        Self {
            client,
            name: arguments.leader_elect_resource_name.clone(),
            // Without a suffix, as cluster-autoscaler: replicas on one host take each other for themselves.
            identity: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            lasts: arguments.leader_elect_lease_duration,
            deadline: arguments.leader_elect_renew_deadline,
            retry: arguments.leader_elect_retry_period,
            gives_up_at_once: settings.has(Defect::GivesUpLeaseAtOnce),
            seen: None,
            written: None,
            term: Term(Arc::new(Mutex::new(Time::EPOCH))),
        }
    }

    pub(crate) fn term(&self) -> Term {
        self.term.clone()
    }

    /// Waits until the lease is ours.
    pub(crate) async fn acquire(&mut self) {
        loop {
            match self.attempt().await {
                Ok(true) => return tracing::info!("{} leads", self.identity),
                Ok(false) => {}
                Err(refusal) => tracing::warn!("failed to acquire the lease: {refusal}"),
            }
            self.client.clock.sleep(self.retry).await;
        }
    }

    /// Renews the lease until that has been impossible for too long.
    pub(crate) async fn keep(&mut self) {
        let clock = self.client.clock.clone();
        let mut renewed = clock.now();
        let mut pause = self.retry;
        loop {
            clock.sleep(pause).await;
            pause = self.retry;
            let until =
                if self.gives_up_at_once { clock.now() + self.retry } else { renewed + self.deadline };
            match clock.timeout_at(until, self.attempt()).await {
                Ok(Ok(true)) => renewed = clock.now(),
                Ok(Ok(false)) => return,
                failed => {
                    if let Ok(Err(refusal)) = failed {
                        tracing::warn!("failed to renew the lease: {refusal}");
                    }
                    if self.gives_up_at_once || clock.now() >= renewed + self.deadline {
                        return;
                    }
                    pause = self.retry / 4;
                }
            }
        }
    }

    /// Takes or renews the lease; whether it is ours.
    async fn attempt(&mut self) -> Result<bool, Refusal> {
        let now = self.client.clock.now();
        if let Some(mut lease) = self.written.take().filter(|_| self.term.holds(now)) {
            lease.spec = lease.spec.map(|spec| LeaseSpec { renew_time: Some(MicroTime(now.into())), ..spec });
            match self.write(&lease, now).await {
                Ok(()) => return Ok(true),
                Err(refusal) => tracing::warn!("failed to renew the lease, which is read again: {refusal}"),
            }
        }
        self.take().await
    }

    /// Reads the lease, and takes or renews it if that is allowed; whether it is ours.
    async fn take(&mut self) -> Result<bool, Refusal> {
        let leases = self.leases();
        let now = self.client.clock.now();
        let stamp = MicroTime(now.into());
        let Some(mut lease) = self.client.ask(leases.get_opt(&self.name)).await? else {
            let name = Some(self.name.clone());
            let lease = Lease {
                metadata: ObjectMeta { name, ..ObjectMeta::default() },
                spec: Some(LeaseSpec {
                    lease_transitions: Some(0),
                    acquire_time: Some(stamp.clone()),
                    ..self.spec(stamp)
                }),
            };
            self.client.ask(leases.create(&PostParams::default(), &lease)).await?;
            self.term.extend(now + self.lasts);
            return Ok(true);
        };
        let spec = lease.spec.clone().unwrap_or_default();
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != spec) {
            self.seen = Some((spec.clone(), now));
        }
        let ours = spec.holder_identity.as_deref() == Some(&self.identity);
        let held = spec.holder_identity.as_ref().is_some_and(|holder| !holder.is_empty());
        let lasts = spec.lease_duration_seconds.and_then(|s| u64::try_from(s).ok());
        let lasts = lasts.map_or(self.lasts, Duration::from_secs);
        // Whether it has run out is told by our clock: that of the holder may be wrong.
        let alive = self.seen.as_ref().is_some_and(|(_, at)| now.since(*at) < lasts);
        if held && !ours && alive {
            return Ok(false);
        }
        let transitions = spec.lease_transitions.unwrap_or_default() + i32::from(!ours);
        let acquired = if ours { spec.acquire_time } else { Some(stamp.clone()) };
        lease.spec = Some(LeaseSpec {
            lease_transitions: Some(transitions),
            acquire_time: acquired,
            ..self.spec(stamp)
        });
        self.write(&lease, now).await?;
        Ok(true)
    }

    /// Writes the lease as ours, as of `now`.
    async fn write(&mut self, lease: &Lease, now: Time) -> Result<(), Refusal> {
        let (leases, parameters) = (self.leases(), PostParams::default());
        let written = self.client.ask(leases.replace(&self.name, &parameters, lease)).await?;
        self.seen = written.spec.clone().map(|spec| (spec, now));
        self.written = Some(written);
        self.term.extend(now + self.lasts);
        Ok(())
    }

    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.client.client.clone(), &self.client.namespace)
    }

    fn spec(&self, stamp: MicroTime) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(self.lasts.as_secs()).ok(),
            renew_time: Some(stamp),
            ..LeaseSpec::default()
        }
    }
}
