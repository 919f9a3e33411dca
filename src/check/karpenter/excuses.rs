//! What may keep Karpenter from doing what it promises of one node or claim, and until when. An excuse lasts as long as its
//! reason: whoever was excused is asked again when it is over, and what has nothing to do with the node is none.

use std::time::Duration;

use mock_clock::Time;

use super::claims::{Claims, DO_NOT_DISRUPT, is_chosen, is_protected};
use crate::check::causes::hopeless;
use crate::check::fit::fit;
use crate::check::scene::{TIE, Trouble};
use crate::history::query::{Budget, Claim, DISRUPTED_TAINTS, Node, Pod, Server, Spell, Track};
use crate::terms::{Pool, Taint, Timer, Version};

/// How long the launch of one claim may keep what has nothing to do with it.
const LAUNCH: Duration = Duration::from_secs(30);
/// After so long a claim has a node, or is given up, if the profile says nothing else.
const PROVISION: Duration = Duration::from_secs(900);

impl Claims<'_> {
    /// When a node of a pool that may go since a moment is overdue, before `until`: it was left alone for a while, and then nothing
    /// went wrong for as long as a decision takes, and nothing kept it.
    pub(super) fn overdue(
        &self,
        (pool, node): (&Pool, &str),
        since: Time,
        (after, decision): (Duration, Duration),
        until: Time,
        kept: impl Fn(Time, Time) -> Option<Time>,
    ) -> Option<Time> {
        let concerns = |trouble: &Trouble| self.concerns_choice(pool, node, trouble);
        let mut at = since;
        loop {
            at = self.scene.calm_from(at, after + decision, until, concerns)?;
            let due = at + after + decision;
            let Some(end) = kept(due - decision, due) else { return Some(due) };
            if end >= until {
                return None;
            }
            at = end + TIE - after;
        }
    }

    /// Until when anything kept nodes of a pool from being disrupted at any moment between two: a pod that might be meant for one
    /// of them, a claim on its way to its machine, or others that have used up what the budgets allow.
    pub(super) fn kept(&self, pool: &Pool, node: &str, from: Time, to: Time) -> Option<Time> {
        self.pods_wait(pool, from, to).max(self.kept_whoever_waits(pool, node, from, to))
    }

    /// The same, but for pods that might be meant for them.
    pub(super) fn kept_whoever_waits(&self, pool: &Pool, node: &str, from: Time, to: Time) -> Option<Time> {
        self.launching(pool, from, to).max(self.spent(pool, node, from, to))
    }

    /// Until when pods waited for a node, and might have been meant for one of this pool, at any moment between two.
    fn pods_wait(&self, pool: &Pool, from: Time, to: Time) -> Option<Time> {
        let waits = |pod: &Pod| (pod.waits() || is_new(pod)) && !fit(&self.scene, pod, pool).impossible();
        self.scene.pods.values().filter_map(|track| last(track.spells(waits), from, to)).max()
    }

    /// Whether anything may have been bought for pods that waited at any moment between two; in a pool, if it is known.
    pub(super) fn pods_waited(&self, pool: Option<&Pool>, from: Time, to: Time) -> bool {
        let waits = |pod: &Pod| (pod.waits() || is_new(pod)) && !hopeless(&self.scene, pod);
        match pool {
            Some(pool) => self.pods_wait(pool, from, to).is_some(),
            None => self.scene.pods.values().any(|track| track.ever(from, to, waits)),
        }
    }

    /// Until when a claim was on its way to its machine at any moment between two: until then nothing is decided. It is an excuse
    /// for a while only, and one of another pool for less.
    fn launching(&self, pool: &Pool, from: Time, to: Time) -> Option<Time> {
        let launches = |claim: &Claim| !claim.launched;
        let (own, others) = (self.patience(), LAUNCH);
        self.on_the_way(|of| if of == Some(&pool.name) { own } else { others }, launches, from, to)
    }

    /// Until when a claim of a pool was on its way to a node that can be used at any moment between two.
    pub(super) fn starting(&self, pool: &Pool, from: Time, to: Time) -> Option<Time> {
        let starts = |claim: &Claim| !claim.initialized && !claim.ending;
        let own = self.patience();
        self.on_the_way(|of| if of == Some(&pool.name) { own } else { Duration::ZERO }, starts, from, to)
    }

    fn patience(&self) -> Duration {
        self.scene.timer(Timer::ProvisionTime).unwrap_or(PROVISION)
    }

    fn on_the_way(
        &self,
        patience: impl Fn(Option<&String>) -> Duration,
        is: impl Fn(&Claim) -> bool,
        from: Time,
        to: Time,
    ) -> Option<Time> {
        let of = |track: &Track<Claim>| {
            let patience = patience(track.last().and_then(|claim| claim.pool.as_ref()));
            let bounded = |it: Spell| {
                let to = it.to.unwrap_or(Time::NEVER).min(it.from + patience);
                (it.from < to).then_some(Spell { to: Some(to), ..it })
            };
            last(track.spells(&is).into_iter().filter_map(bounded), from, to)
        };
        self.all.values().filter_map(of).max()
    }

    /// Until when as many others of a pool were going or not ready as its budgets let go, at any moment between two.
    fn spent(&self, pool: &Pool, node: &str, from: Time, to: Time) -> Option<Time> {
        let tracks = self.nodes_of_pool(pool);
        let is_spent = |at: Time| {
            let there = tracks.iter().filter_map(|(name, track)| Some((*name, track.at(at)?)));
            let (mut nodes, mut out) = (0, 0);
            for (name, state) in there {
                nodes += 1;
                out += usize::from(name != node && (state.ending || is_chosen(state) || !state.ready));
            }
            Self::at_most(pool, nodes).is_some_and(|allowed| out >= allowed)
        };
        let changes = tracks.iter().flat_map(|(_, track)| track.seen.iter().map(|seen| seen.at));
        until_changed(changes, is_spent, from, to)
    }

    /// Until when a pool had as many claims as it may have, at any moment between two.
    pub(super) fn full(&self, pool: &Pool, from: Time, to: Time) -> Option<Time> {
        let of_pool = |claim: &Claim| claim.pool.as_ref() == Some(&pool.name);
        let is_full = |at: Time| {
            let there = self.all.values().filter(|track| track.at(at).is_some_and(of_pool)).count();
            there >= pool.max as usize
        };
        let changes = self.all.values().flat_map(|track| track.seen.iter().map(|seen| seen.at));
        until_changed(changes, is_full, from, to)
    }

    fn nodes_of_pool(&self, pool: &Pool) -> Vec<(&str, &Track<Node>)> {
        let ours = |track: &Track<Claim>| track.last().is_some_and(|it| it.pool.as_ref() == Some(&pool.name));
        let names = self.all.iter().filter(|(_, track)| ours(track)).map(|(name, _)| name.as_str());
        names.filter_map(|name| self.node_of(name)).collect()
    }

    /// Until when a pod of a kind kept its node at any moment between two: it said so, or its disruption budget did. What goes with
    /// a node may keep it, too.
    pub(super) fn held_by(
        &self,
        node: &str,
        from: Time,
        to: Time,
        who: impl Fn(&Pod) -> bool,
    ) -> Option<Time> {
        let there = |pod: &Pod| pod.node.as_deref() == Some(node) && !pod.finished() && who(pod);
        let of = |track: &Track<Pod>| {
            let pinned = last(track.spells(|pod| there(pod) && may_be_pinned(pod)), from, to);
            let pod = track.last()?;
            let blocked =
                self.scene.budgets.values().flat_map(|budget| budget.spells(|it| may_block(it, pod)));
            let blocked: Vec<Spell> = blocked.collect();
            let both = track.spells(there).into_iter().flat_map(|spell| {
                let meets = |other: &Spell| {
                    let (from, to) =
                        (spell.from.max(other.from), [spell.to, other.to].into_iter().flatten().min());
                    to.is_none_or(|to| from < to).then_some(Spell { from, to, ..spell })
                };
                blocked.iter().filter_map(meets).collect::<Vec<_>>()
            });
            pinned.max(last(both, from, to))
        };
        self.scene.pods_on(node).filter_map(|(_, track)| of(track)).max()
    }

    /// Until when a node, or a pod on it, said that it was not to be disrupted, at any moment between two.
    pub(super) fn held(&self, node: &str, from: Time, to: Time) -> Option<Time> {
        let protected = self.scene.nodes.get(node).and_then(|it| last(it.spells(is_protected), from, to));
        protected.max(self.held_by(node, from, to, |_| true))
    }

    /// Until when something kept a node that is going from a moment on: a pod that has to leave it, or a volume; and then the cloud,
    /// if it was asked soon to take its machine back.
    pub(super) fn busy_until(&self, claim: &str, from: Time, soon: Duration) -> Time {
        let end = self.scene.end;
        let until = |spells: Vec<Spell>| last(spells, from, end).map_or(from, |until| until.min(end));
        let Some((node, _)) = self.node_of(claim) else { return self.taken_back(claim, from, soon) };
        let leaves = |pod: &Pod| pod.node.as_deref() == Some(node) && self.must_leave(pod);
        let pods = self.scene.pods_on(node).map(|(_, track)| until(track.spells(leaves)));
        let volumes = self.attachments.values().map(|track| until(track.spells(|on| on == node)));
        self.taken_back(claim, pods.chain(volumes).fold(from, Time::max), soon)
    }

    /// Until when the cloud took servers of a claim back, of those that it was asked for no later than soon after a moment.
    pub(super) fn taken_back(&self, claim: &str, from: Time, soon: Duration) -> Time {
        let of = |(id, track): (&u64, &Track<Server>)| {
            let asked = self.asked_back.get(id).filter(|asked| is_of(track, claim) && **asked <= from + soon);
            let gone = track.seen.last().filter(|seen| seen.state.is_none()).map(|seen| seen.at);
            asked.map(|_| gone.unwrap_or(self.scene.end))
        };
        self.scene.servers.iter().filter_map(of).fold(from, Time::max)
    }

    /// When the cloud was first asked to take a server of a claim back.
    pub(super) fn asked_back_at(&self, claim: &str) -> Option<Time> {
        let ours = |id: &u64| self.scene.servers.get(id).is_some_and(|track| is_of(track, claim));
        self.asked_back.iter().filter(|(id, _)| ours(id)).map(|(_, asked)| *asked).min()
    }

    /// Whether a node is not gone before a pod has left it: neither one that is over, nor one that stands in a file of the node,
    /// nor one that does not mind the taint.
    fn must_leave(&self, pod: &Pod) -> bool {
        let old = self.scene.history.header.subject.version.is_some_and(|it| it < Version::new(1, 0, 0));
        let (key, value) = if old { (DISRUPTED_TAINTS[1], "disrupting") } else { (DISRUPTED_TAINTS[0], "") };
        let taint = Taint { key: key.to_owned(), value: value.to_owned(), effect: "NoSchedule".to_owned() };
        !pod.finished() && !pod.mirror && !pod.tolerations.iter().any(|it| it.tolerates(&taint))
    }

    /// Whether something that went wrong has to do with the choice of a node to be disrupted: not what was ordered for another
    /// pool, nor how the pods, the server or the lease of another node are looked after.
    pub(super) fn concerns_choice(&self, pool: &Pool, node: &str, trouble: &Trouble) -> bool {
        let looked_after =
            trouble.object.as_ref().is_some_and(|(kind, _)| matches!(&**kind, "pods" | "servers" | "leases"));
        match self.claim_of(node) {
            Some((claim, _)) if looked_after => self.concerns(claim, trouble),
            _ => trouble.pool.as_ref().is_none_or(|of| *of == pool.name),
        }
    }

    /// Whether something that went wrong has to do with a claim that is to be registered, or to go: each is looked after by
    /// itself. What names no one object has to do with all, but for orders.
    pub(super) fn concerns(&self, claim: &str, trouble: &Trouble) -> bool {
        let Some((kind, name)) = &trouble.object else { return trouble.pool.is_none() };
        let node = self.node_of(claim).map(|(node, _)| node);
        let of_node = |key: &str| key.rsplit_once('/').is_some_and(|(_, pod)| pod == name);
        match kind.as_str() {
            "nodes" | "leases" => node == Some(name) || !self.scene.nodes.contains_key(name),
            "nodeclaims" => name == claim,
            "pods" => node.is_some_and(|node| self.scene.pods_on(node).any(|(key, _)| of_node(key))),
            "servers" => {
                let server = name.parse().ok().and_then(|id: u64| self.scene.servers.get(&id)?.last());
                server.and_then(|server| server.claim.as_deref()).is_none_or(|of| of == claim)
            }
            _ => true,
        }
    }
}

/// Whether a server was made for a claim.
fn is_of(server: &Track<Server>, claim: &str) -> bool {
    server.last().is_some_and(|server| server.claim.as_deref() == Some(claim))
}

/// A pod that nobody has put anywhere yet.
fn is_new(pod: &Pod) -> bool {
    pod.node.is_none() && !pod.finished() && !pod.ending
}

/// Whether a pod says that it is not to be disrupted, for ever or for a time.
fn may_be_pinned(pod: &Pod) -> bool {
    pod.annotations.get(DO_NOT_DISRUPT).is_some_and(|value| value != "false")
}

/// Whether a disruption budget may let a pod not go.
fn may_block(budget: &Budget, pod: &Pod) -> bool {
    let counts = budget.covers(pod) || (budget.obscure && budget.namespace == pod.namespace);
    counts && budget.allowed.is_none_or(|allowed| allowed <= 0)
}

/// When the last of these times ended that touch the time between two moments.
fn last(spells: impl IntoIterator<Item = Spell>, from: Time, to: Time) -> Option<Time> {
    let within = spells.into_iter().filter(|spell| spell.touches(from, to));
    within.map(|spell| spell.to.unwrap_or(Time::NEVER)).max()
}

/// Until when something was so that was so at any moment between two, if it can change at these moments only.
fn until_changed(
    changes: impl Iterator<Item = Time>,
    is: impl Fn(Time) -> bool,
    from: Time,
    to: Time,
) -> Option<Time> {
    let mut moments: Vec<Time> = changes.filter(|at| *at >= from).chain([from]).collect();
    moments.sort_unstable();
    moments.dedup();
    let last = moments.iter().rposition(|at| *at <= to && is(*at))?;
    Some(moments.get(last + 1).copied().unwrap_or(Time::NEVER))
}
