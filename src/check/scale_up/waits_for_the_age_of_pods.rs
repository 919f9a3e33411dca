//! SU-07. An order convicts if pods waited for it that were younger than the scale-up delay, by more than a tie and the second to
//! which their creation is told, and for those that were not, if there were any, enough was on its way.
//!
//! The subject is each order and the pods that its pool may take, judged once. Excused is an order that fills a minimum, and one
//! that what is on its way does not suffice for. What is on its way counts for the provision time.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 is created, with pod-scale-up-delay 2m, and unschedulable
//! 30 s  POST /servers for pool small
//! ```
//!
//! It does not catch an order that comes too late: that is SU-01, which grants the delay.

use crate::check::causes::{candidates, fills_minimum, first_attempts, knew_of};
use crate::check::fit::need;
use crate::check::reaction::ripe;
use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-07"),
    promise: "Nothing is ordered for a pod before it has the age that flag or annotation ask for",
    cite: &[
        faq!(
            "How can I modify Cluster Autoscaler reaction time?",
            "how-can-i-modify-cluster-autoscaler-reaction-time"
        ),
        flag!("--new-pod-scale-up-delay"),
    ],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let provision = scene.timer(Timer::ProvisionTime).unwrap_or_default();
    let mut tally = Tally::default();
    for order in first_attempts(&scene) {
        let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
        let waiting = candidates(&scene, order, pool);
        let delayed =
            |pod: &Pod| ripe(&scene, pod).filter(|ripe| pod.created.is_some_and(|created| *ripe > created));
        if waiting.is_empty()
            || !waiting.iter().any(|(pod, _)| delayed(pod).is_some())
            || fills_minimum(&scene, order, pool)
        {
            continue;
        }
        tally.exercised();
        let early = |pod: &Pod| delayed(pod).is_some_and(|ripe| order.began + TIE * 2 < ripe);
        let (young, old): (Vec<_>, Vec<_>) = waiting.iter().partition(|(pod, _)| early(pod));
        let old: Vec<&Pod> = old.iter().map(|(pod, _)| *pod).collect();
        let upcoming = scene.upcoming(order.began, provision).into_iter();
        let coming = upcoming.filter(|(it, _)| it.pool == order.pool && knew_of(order, it)).count();
        if let Some((pod, event)) = young.first()
            && coming >= need(&scene, &old, pool)
        {
            let says = format!("{} was ordered for {}, which had not the age for it", order.name, pod.key());
            tally.violated(says, [*event, order.event]);
        }
    }
    tally.verdict("nothing was ordered for pods with a scale-up delay")
}
