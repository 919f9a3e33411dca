//! How soon something is bought for a pod that waits. Several promises are this one, put to the test in different ways.
//!
//! The subject of the promise is the single pod. An order answers it only if the pod would fit the pool that was ordered from,
//! and if the pod waits on, the same is asked again. What is on its way excuses the subject while it is young, is of such a
//! pool, and is enough for the pods that compete for it.

use std::time::Duration;

use mock_clock::Time;

use super::Tally;
use super::arrivals::comes;
use super::fit::fit;
use super::scene::{Scene, TIE};
use crate::history::What;
use crate::history::query::{Node, Order, Pod, Spell};
use crate::terms::{Api, Pool, Provider, Taint, Timer};

/// Judges for each pod that waits, and is chosen, that something is bought for it within `window` and the slack, once, when it
/// begins to wait. Left out is whatever may excuse the subject: it did not run, was refused something, stood in an order, has
/// capacity on the way, is at a limit, or in back-off; or no pool takes the pod for certain.
pub(super) fn reactions(scene: &Scene<'_>, window: Duration, chosen: impl Fn(&Pod, &Spell) -> bool) -> Tally {
    let mut tally = Tally::default();
    each_wait(scene, &mut tally, |tally, pod, spell| {
        if chosen(pod, spell)
            && let Some(wait) = Wait::of(scene, pod, spell, window, tally)
            && !scene.misled(wait.ripe, wait.deadline(wait.ripe))
        {
            wait.judge(tally, wait.ripe, spell.from - TIE);
        }
    });
    tally
}

/// The same of all pods that wait, as long as they wait.
pub(super) fn reactions_throughout(scene: &Scene<'_>, window: Duration) -> Tally {
    reactions_while(scene, window, |_, _| true)
}

/// The same, for the times that begin while something is so.
pub(super) fn reactions_while(scene: &Scene<'_>, window: Duration, so: impl Fn(&Pod, Time) -> bool) -> Tally {
    throughout(scene, window, |pod, from, to| !scene.misled(from, to) && so(pod, from))
}

/// The same, where lists of the cloud said what was not so.
pub(super) fn reactions_while_misled(scene: &Scene<'_>, window: Duration) -> Tally {
    throughout(scene, window, |_, from, to| scene.misled(from, to))
}

fn throughout(scene: &Scene<'_>, window: Duration, concerns: impl Fn(&Pod, Time, Time) -> bool) -> Tally {
    let mut tally = Tally::default();
    each_wait(scene, &mut tally, |tally, pod, spell| {
        let mut of_no_concern = Tally::default();
        let counts = if concerns(pod, spell.from, spell.from) { &mut *tally } else { &mut of_no_concern };
        let Some(wait) = Wait::of(scene, pod, spell, window, counts) else { return };
        let (mut from, mut since) = (wait.ripe, spell.from - TIE);
        while wait.goes_on(from) {
            if concerns(pod, from, wait.deadline(from)) && wait.judge(tally, from, since) {
                break;
            }
            from = wait.deadline(from);
            since = from;
        }
    });
    tally
}

/// Who is nominated waits for others to make room, and for nothing that could be bought.
fn each_wait(scene: &Scene<'_>, tally: &mut Tally, mut judge: impl FnMut(&mut Tally, &Pod, &Spell)) {
    for track in scene.pods.values() {
        for spell in track.spells(|pod| pod.waits() && !pod.nominated) {
            if let Some(pod) = track.at(spell.from) {
                judge(tally, pod, &spell);
            }
        }
    }
}

/// A pod that waits, and what is granted to the subject.
struct Wait<'s, 'h> {
    scene: &'s Scene<'h>,
    pod: &'s Pod,
    spell: &'s Spell,
    window: Duration,
    /// When it is old enough, and the subject awake.
    ripe: Time,
}

impl<'s, 'h> Wait<'s, 'h> {
    /// Nothing if the subject was not awake meanwhile; who was served by a process that has just started was served in time.
    fn of(
        scene: &'s Scene<'h>,
        pod: &'s Pod,
        spell: &'s Spell,
        window: Duration,
        tally: &mut Tally,
    ) -> Option<Self> {
        let until = spell.to.unwrap_or(scene.end);
        let awake = scene.awake_from(spell.from, until);
        let old = ripe(scene, pod).unwrap_or(spell.from);
        let wait = Self { scene, pod, spell, window, ripe: awake.unwrap_or(spell.from).max(old) };
        if awake.is_none()
            && until <= spell.from + window + scene.slack()
            && wait.order(spell.from - TIE, until).is_some()
        {
            tally.exercised();
        }
        awake.map(|_| wait)
    }

    fn deadline(&self, from: Time) -> Time {
        from + self.window + self.scene.slack()
    }

    /// Whether it waits long enough after a moment for anything to be told.
    fn goes_on(&self, from: Time) -> bool {
        let deadline = self.deadline(from);
        from == self.ripe || (self.spell.spans(self.spell.from, deadline) && deadline <= self.scene.end)
    }

    /// The first order between two moments that may be for the pod.
    fn order(&self, since: Time, until: Time) -> Option<&Order> {
        self.scene.orders.iter().find(|order| {
            let pool = order.pool.as_deref().and_then(|pool| self.scene.pool(pool));
            since <= order.began
                && order.began <= until
                && pool.is_none_or(|pool| !fit(self.scene, self.pod, pool).impossible())
        })
    }

    /// Judges that something was ordered for it since a moment, by the deadline of another; whether nothing was, and nothing
    /// excuses that.
    fn judge(&self, tally: &mut Tally, from: Time, since: Time) -> bool {
        let deadline = self.deadline(from);
        if self.order(since, deadline).is_some() {
            tally.exercised();
            return false;
        }
        let waits = self.spell.spans(self.spell.from, deadline);
        if !waits || !nothing_excuses(self.scene, self.pod, from, deadline) {
            return false;
        }
        let (waited, last) = ((deadline - self.ripe).as_secs(), (deadline - from).as_secs());
        let pod = self.pod.key();
        let says = if from == self.ripe {
            format!("{pod} waited {waited} s for a node, and nothing was ordered that it fits")
        } else {
            format!(
                "{pod} waited {waited} s for a node, and in the last {last} s nothing was ordered that it fits"
            )
        };
        tally.violated(says, [self.spell.began]);
        true
    }
}

/// When a pod has the age at which anything is bought for it.
pub(super) fn ripe(scene: &Scene<'_>, pod: &Pod) -> Option<Time> {
    let own = pod.annotations.get("cluster-autoscaler.kubernetes.io/pod-scale-up-delay");
    let own = own.and_then(|delay| delay.parse::<crate::terms::Period>().ok()).map(|period| period.0);
    let delay = own.unwrap_or_default().max(scene.timer(Timer::NewPodScaleUpDelay).unwrap_or_default());
    pod.created.map(|created| created + delay)
}

fn nothing_excuses(scene: &Scene<'_>, pod: &Pod, from: Time, to: Time) -> bool {
    scene.pools().iter().any(|pool| takes(scene, pool, pod, from, to))
        && free(scene, pod, from, to)
        && [from, to]
            .into_iter()
            .all(|at| !scene.mostly_unready(at) && !has_room(scene, pod, at) && !comes(scene, pod, at))
        && !misses_an_image(scene, from, to)
}

/// Whether the subject could have been expected to do something for a pod. One whose orders run beside each other is not
/// kept by what goes wrong with an order for a pool that the pod does not fit.
fn free(scene: &Scene<'_>, pod: &Pod, from: Time, to: Time) -> bool {
    if scene.history.header.subject.provider != Provider::Karpenter {
        return scene.free(from, to);
    }
    let concerns = |pool: &str| scene.pool(pool).is_none_or(|pool| !fit(scene, pod, pool).impossible());
    scene.free_for(from, to, concerns)
}

/// Whether it asked for an image and then ordered nothing: that image is not there, and the pool in back-off.
fn misses_an_image(scene: &Scene<'_>, from: Time, to: Time) -> bool {
    let backoff = scene.timer(Timer::BackoffMax).unwrap_or_default();
    let ordered = |asked: Time| {
        scene.orders.iter().any(|order| asked <= order.began && order.began <= asked + scene.slack())
    };
    scene.history.events.iter().filter(|event| from - backoff <= event.at && event.at <= to).any(|event| {
        match &event.what {
            What::Call(call) => {
                call.to == Api::Cloud && call.path.ends_with("/images") && !ordered(call.began)
            }
            _ => false,
        }
    })
}

/// Whether a node that is there might take a pod, whatever the scheduler says of it.
fn has_room(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    scene.nodes.iter().any(|(name, track)| {
        let node = track.at(at).filter(|node| node.takes_pods());
        node.is_some_and(|node| suffices(scene, name, node, pod, at))
    })
}

/// Whether a node that something keeps pods away from, as a taint of that key does, has room for a pod.
pub(super) fn has_barred_room(
    scene: &Scene<'_>,
    pod: &Pod,
    at: Time,
    key: &str,
    barred: impl Fn(&Node) -> bool,
) -> bool {
    scene.nodes.iter().any(|(name, track)| {
        let Some(node) = track.at(at).filter(|node| node.ready && !node.ending && barred(node)) else {
            return false;
        };
        let minds = |taint: &Taint| {
            !taint.key.starts_with(key)
                && taint.effect != "PreferNoSchedule"
                && !pod.tolerations.iter().any(|one| one.tolerates(taint))
        };
        !node.taints.iter().any(minds) && suffices(scene, name, node, pod, at)
    })
}

/// Whether what is not asked for on a node suffices for a pod, and the node is one that it chooses.
fn suffices(scene: &Scene<'_>, name: &str, node: &Node, pod: &Pod, at: Time) -> bool {
    let used = scene.taken_on(name, at);
    pod.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
        && used.cpu_milli + pod.asks.cpu_milli <= node.room.cpu_milli
        && used.memory_mib + pod.asks.memory_mib <= node.room.memory_mib
}

/// Whether a pool would take a pod for certain: it has a place for it, and no failure puts it off.
pub(super) fn takes(scene: &Scene<'_>, pool: &Pool, pod: &Pod, from: Time, to: Time) -> bool {
    let backoff = scene.longest_back_off();
    has_place(scene, pool, pod, from, to) && !scene.may_back_off(&pool.name, from - backoff, to)
}

/// Whether a pool has a place for a pod for certain: it fits, its machines are sold, there is room to the maximum and to what is
/// allowed in all, most of its nodes are well, and nobody asked to leave it alone.
pub(super) fn has_place(scene: &Scene<'_>, pool: &Pool, pod: &Pod, from: Time, to: Time) -> bool {
    let full = |at| {
        scene.servers.values().filter(|track| in_pool(track.at(at), &pool.name)).count()
            >= scene.max(pool, at) as usize
    };
    fit(scene, pod, pool).sure()
        && !full(from)
        && !full(to)
        && !scene.sells_nothing(pool, from, to)
        && !scene.limited(from)
        && !scene.limited(to)
        && !scene.ails(pool, from)
        && !scene.ails(pool, to)
        && !scene.hands_off(&pool.name, from, to)
}

fn in_pool(server: Option<&crate::history::query::Server>, pool: &str) -> bool {
    server.is_some_and(|server| server.pool.as_deref() == Some(pool))
}

/// Pools other than the one of an order that take all pods for which it may have been placed.
pub(super) fn rivals<'s>(scene: &'s Scene<'_>, order: &'s Order) -> Vec<&'s Pool> {
    let pool = order.pool.as_deref().and_then(|pool| scene.pool(pool));
    let waiting = pool.map(|pool| super::causes::candidates(scene, order, pool)).unwrap_or_default();
    let takes_all = |pool: &&Pool| {
        let takes = |pod: &Pod| takes(scene, pool, pod, order.began - TIE, order.began);
        waiting.iter().all(|(pod, _)| takes(pod))
    };
    let others = scene.pools().iter().filter(|pool| Some(pool.name.as_str()) != order.pool.as_deref());
    if waiting.is_empty() { Vec::new() } else { others.filter(takes_all).collect() }
}
