//! The pulse of all kubelets: leases every ten seconds, the whole status every five minutes, all on the same moments, so that
//! hundreds of nodes cost no more jumps of the clock than one.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, Patch, PatchParams};
use mock_clock::{Clock as _, Time};
use serde_json::json;

use super::kubelet::Kubelet;
use super::roster::Roster;
use super::site::Site;

const BEAT: Duration = Duration::from_secs(10);
/// A whole status goes out with every so manieth beat.
const STATUS_BEATS: u64 = 30;
/// So many are on their way at once.
const AT_ONCE: usize = 16;

/// Beats for ever.
pub(super) async fn beat(site: Arc<Site>, roster: Arc<Roster>) {
    let leases: Api<Lease> = Api::namespaced(site.client.clone(), "kube-node-lease");
    loop {
        let beat = site.clock.now().unix_nanos() / nanos(BEAT) + 1;
        site.clock.sleep_until(Time::from_unix_nanos(beat.saturating_mul(nanos(BEAT)))).await;
        let speaking = roster.kubelets().into_iter().filter(|kubelet| kubelet.speaks());
        let beats = speaking.map(|kubelet| speak(&site, &leases, kubelet, beat.is_multiple_of(STATUS_BEATS)));
        futures_util::stream::iter(beats)
            .buffer_unordered(AT_ONCE)
            .for_each(|()| std::future::ready(()))
            .await;
    }
}

async fn speak(site: &Site, leases: &Api<Lease>, kubelet: Arc<Kubelet>, whole: bool) {
    let patch = Patch::Merge(json!({"spec": {"renewTime": site.stamp_micros()}}));
    let params = PatchParams::default();
    site.call("renew a lease", || leases.patch(kubelet.name(), &params, &patch)).await;
    if whole {
        kubelet.post().await;
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
