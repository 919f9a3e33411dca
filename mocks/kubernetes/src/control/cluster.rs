//! The controllers that keep the cluster itself in order, each under upstream's name for it.

use tokio::task::JoinSet;

use super::definition::Undefiner;
use super::disruption::{self, Disruption};
use super::eviction::{self, Evictor};
use super::frame::{Controller, EVERY_SHELF, run};
use super::furniture::Furnisher;
use super::garbage::Collector;
use super::leftover::{self, Sweeper};
use super::namespace::Emptier;
use super::node::{self, Grace, Lifecycle};
use super::volume::{self, Attacher, Binder, ClaimGuard, Drivers, VolumeGuard};
use crate::api::Api;

/// What the controllers are to be like.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The certificate by which pods know the server.
    pub(crate) ca_pem: String,
    /// How long nodes may be silent.
    pub(crate) grace: Grace,
    /// What the drivers of volumes are like.
    pub(crate) drivers: Drivers,
}

/// Starts them, unless their name is off.
pub(crate) fn cluster(api: &Api, tasks: &mut JoinSet<()>, off: &dyn Fn(&str) -> bool, settings: Settings) {
    const EVERYTHING: &[&str] = &[EVERY_SHELF];
    let Settings { ca_pem, grace, drivers } = settings;
    let mut starter = Starter { api, tasks, off };
    starter.start("garbage-collector-controller", EVERYTHING, |api| Collector::new(api.clone()));
    starter.start("namespace-controller", EVERYTHING, |_| Emptier::default());
    starter.start("customresourcedefinition-cleanup-controller", EVERYTHING, |_| Undefiner::default());
    starter.start("serviceaccount-controller", &["namespaces", "serviceaccounts"], |_| {
        Furnisher::service_account()
    });
    starter.start("root-ca-certificate-publisher-controller", &["namespaces", "configmaps"], move |_| {
        Furnisher::root_ca(&ca_pem)
    });
    starter.start("node-lifecycle-controller", node::SHELVES, move |api| Lifecycle::new(api, grace));
    starter.start("taint-eviction-controller", eviction::SHELVES, Evictor::new);
    starter.start("disruption-controller", disruption::SHELVES, |_| Disruption::new());
    starter.start("pod-garbage-collector-controller", leftover::SHELVES, |api| {
        Sweeper::new(api, leftover::FINISHED_MAX)
    });
    starter
        .start("persistentvolume-binder-controller", volume::BINDING_SHELVES, move |_| Binder::new(drivers));
    starter.start("persistentvolume-attach-detach-controller", volume::ATTACHMENT_SHELVES, move |_| {
        Attacher::new(drivers)
    });
    starter.start("persistentvolumeclaim-protection-controller", volume::CLAIM_SHELVES, |_| {
        ClaimGuard::default()
    });
    starter.start("persistentvolume-protection-controller", volume::VOLUME_SHELVES, |_| VolumeGuard);
}

struct Starter<'a> {
    api: &'a Api,
    tasks: &'a mut JoinSet<()>,
    off: &'a dyn Fn(&str) -> bool,
}

impl Starter<'_> {
    fn start<C>(
        &mut self,
        name: &'static str,
        shelves: &'static [&'static str],
        make: impl Fn(&Api) -> C + Send + Sync + 'static,
    ) where
        C: Controller + 'static,
        C::Item: Sync,
    {
        if (self.off)(name) {
            return;
        }
        let api = self.api.clone();
        self.tasks.spawn(async move { run(api.clone(), name, shelves, || make(&api)).await });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::rig::Rig;
    use super::*;
    use crate::api::Delete;

    #[tokio::test]
    async fn together_they_come_to_rest() {
        let mut rig = Rig::new();
        let (grace, drivers) = (Grace::default(), Drivers::default());
        let settings = Settings { ca_pem: "PEM".to_owned(), grace, drivers };
        cluster(&rig.api.clone(), &mut rig.tasks, &|name| name == "serviceaccount-controller", settings);
        rig.put("namespaces", "", json!({"metadata": {"name": "x"}}));
        rig.settle().await;
        assert!(rig.get("configmaps", "x", "kube-root-ca.crt").is_some());
        assert!(rig.get("serviceaccounts", "x", "default").is_none());
        rig.delete("namespaces", "", "x", Delete::background());
        rig.settle().await;
        assert!(rig.get("namespaces", "", "x").is_none());
    }
}
