//! Events in words: one short sentence each, and whether it is worth telling at all.
//!
//! What is worth telling are changes that somebody would point at on a timeline: a server bought, a node ready, a pod bound,
//! a call that changes something or fails. Renewed leases, heartbeats and reads are not.

use std::collections::BTreeMap;

use crate::history::query::{Node, Pod, Server, Track, leader_lease, nodes, pods, servers};
use crate::history::{
    AccountEvent, CallEvent, Change, FaultChange, FaultEvent, History, Phase, StepChange, StepEvent,
    SubjectChange, SubjectEvent, What,
};

/// The words for what is worth telling, by event.
pub(super) struct Notes<'a> {
    history: &'a History,
    told: BTreeMap<usize, String>,
}

impl<'a> Notes<'a> {
    pub(super) fn of(history: &'a History) -> Self {
        let mut told = BTreeMap::new();
        for (name, track) in &pods(history) {
            tell(&mut told, track, |before, after| pod(name, before, after));
        }
        for (name, track) in &nodes(history) {
            tell(&mut told, track, |before, after| node(name, before, after));
        }
        for (id, track) in &servers(history) {
            tell(&mut told, track, |before, after| server(*id, before, after));
        }
        for track in leader_lease(history, "cluster-autoscaler").values() {
            tell(&mut told, track, |before, after| match (before, after) {
                (Some(before), Some(after)) if before == after => None,
                (_, Some(after)) if after.holder.is_empty() => Some("nobody leads".to_owned()),
                (_, Some(after)) => Some(format!("{} leads", after.holder)),
                (_, None) => Some("the lease of the leader is gone".to_owned()),
            });
        }
        for (event, happened) in history.events.iter().enumerate() {
            if let Some(words) = other(&happened.what) {
                told.insert(event, words);
            }
        }
        Self { history, told }
    }

    /// The events worth telling, in order.
    pub(super) fn worth_telling(&self) -> impl Iterator<Item = usize> {
        self.told.keys().copied()
    }

    /// An event in words, worth telling or not.
    pub(super) fn says(&self, event: usize) -> String {
        match (self.told.get(&event), self.history.events.get(event)) {
            (Some(words), _) => words.clone(),
            (None, Some(happened)) => plain(&happened.what),
            (None, None) => "this event is not in the history".to_owned(),
        }
    }
}

fn tell<T>(
    told: &mut BTreeMap<usize, String>,
    track: &Track<T>,
    words: impl Fn(Option<&T>, Option<&T>) -> Option<String>,
) {
    let mut before = None;
    for seen in &track.seen {
        if let Some(words) = words(before, seen.state.as_ref()) {
            told.insert(seen.event, words);
        }
        before = seen.state.as_ref();
    }
}

fn pod(name: &str, before: Option<&Pod>, after: Option<&Pod>) -> Option<String> {
    let Some(after) = after else { return Some(format!("pod {name} is gone")) };
    let changed = |is: fn(&Pod) -> bool| is(after) && !before.is_some_and(is);
    if changed(|pod| pod.ending) {
        return Some(format!("pod {name} is told to end"));
    }
    if changed(Pod::finished) {
        return Some(format!("pod {name} has {}", after.phase.to_lowercase()));
    }
    if changed(|pod| pod.phase == "Running") {
        return Some(format!("pod {name} runs on {}", after.node.as_deref().unwrap_or("no node")));
    }
    if changed(|pod| pod.node.is_some()) {
        return Some(format!("pod {name} is bound to {}", after.node.as_deref().unwrap_or_default()));
    }
    if changed(Pod::waits) {
        return Some(format!("pod {name} is unschedulable"));
    }
    before.is_none().then(|| format!("pod {name} is there"))
}

fn node(name: &str, before: Option<&Node>, after: Option<&Node>) -> Option<String> {
    let Some(after) = after else { return Some(format!("node {name} is gone")) };
    let Some(before) = before else {
        let ready = if after.ready { "ready" } else { "not ready" };
        return Some(format!("node {name} is registered, {ready}"));
    };
    if after.ready != before.ready {
        return Some(format!("node {name} is {}", if after.ready { "ready" } else { "not ready any more" }));
    }
    if after.ending && !before.ending {
        return Some(format!("node {name} is told to go"));
    }
    if after.unschedulable != before.unschedulable {
        return Some(format!(
            "node {name} is {}",
            if after.unschedulable { "cordoned" } else { "uncordoned" }
        ));
    }
    if let Some(taint) = after.taints.iter().find(|taint| !before.has_taint(&taint.key)) {
        return Some(format!("node {name} gets the taint {}", taint.key));
    }
    if let Some(taint) = before.taints.iter().find(|taint| !after.has_taint(&taint.key)) {
        return Some(format!("node {name} loses the taint {}", taint.key));
    }
    match (&before.provider_id, &after.provider_id) {
        (None, Some(id)) => Some(format!("node {name} gets its provider id {id}")),
        _ => None,
    }
}

fn server(id: u64, before: Option<&Server>, after: Option<&Server>) -> Option<String> {
    let name = |server: &Server| match &server.pool {
        Some(pool) => format!("server {} (id {id}, pool {pool})", server.name),
        None => format!("server {} (id {id}, of no pool)", server.name),
    };
    match (before, after) {
        (None, Some(after)) => Some(format!("{} is bought, {}", name(after), after.status)),
        (Some(before), Some(after)) if before.status != after.status => {
            Some(format!("{} is {}", name(after), after.status))
        }
        (Some(_), Some(_)) => None,
        (Some(before), None) => Some(format!("{} is deleted", name(before))),
        (None, None) => Some(format!("server {id} is deleted")),
    }
}

/// Everything that needs no knowledge of what was before.
fn other(what: &What) -> Option<String> {
    match what {
        What::Phase(phase) => Some(format!("phase {}", phase_word(*phase))),
        What::Step(event) => Some(step(event)),
        What::Call(event) if changes(event) || fails(event) => Some(call(event)),
        What::Fault(event) => Some(fault(event)),
        What::Subject(event) => Some(subject(event)),
        What::Account(account) => Some(counted(account)),
        What::Unsteady(words) => Some(format!("no step is done: {words}")),
        What::Trouble(words) => Some(format!("the harness has trouble: {words}")),
        What::End => Some("the run is over".to_owned()),
        What::Object(_) | What::Server(_) | What::Call(_) | What::Log(_) | What::Lag(_) | What::Bill(_) => {
            None
        }
    }
}

/// Any event in words, without a look at what was before.
pub(super) fn plain(what: &What) -> String {
    match what {
        What::Object(object) => {
            let space = if object.namespace.is_empty() { "" } else { "/" };
            let change = change_word(object.change);
            let kind = object.kind.to_lowercase();
            format!("{kind} {}{space}{} is {change}", object.namespace, object.name)
        }
        What::Server(server) => {
            format!("server {} (id {}) is {}", server.name, server.id, change_word(server.change))
        }
        What::Call(event) => call(event),
        What::Log(log) => format!("replica {} writes: {}", log.replica, log.line),
        What::Lag(lag) => {
            format!(
                "the harness was {} ms late, starved for {} ms",
                lag.late_us / 1000,
                lag.starved_us / 1000
            )
        }
        What::Bill(bill) => format!("the servers have cost {}", euros(bill.cost_millis)),
        told => other(told).unwrap_or_default(),
    }
}

fn change_word(change: Change) -> &'static str {
    match change {
        Change::Added => "there",
        Change::Modified => "written",
        Change::Deleted => "gone",
    }
}

/// The word of a phase.
pub(super) fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "prepare",
        Phase::Settle => "settle",
        Phase::Act => "act",
        Phase::Heal => "heal",
        Phase::Converge => "converge",
        Phase::Account => "account",
    }
}

fn step(event: &StepEvent) -> String {
    let number = event.step + 1;
    match &event.change {
        StepChange::Begun => format!("step {number}: {}", event.says),
        StepChange::Done => format!("step {number} is done: {}", event.says),
        StepChange::Overdue(instead) => format!("step {number} is overdue: {}; {instead}", event.says),
    }
}

/// Whether a call changes something that a timeline shows. Leases, events and the published status are written all the time.
pub(super) fn changes(call: &CallEvent) -> bool {
    let reads = matches!(call.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let chatter = ["/leases", "/events", "/configmaps", "reviews"];
    !reads && !chatter.iter().any(|part| call.path.contains(part))
}

/// Whether a call did not get what it wanted.
pub(super) fn fails(call: &CallEvent) -> bool {
    !call.open && (call.status >= 400 || call.status == 0 || call.fate.is_some())
}

fn call(call: &CallEvent) -> String {
    let name = call.request.as_ref().and_then(|body| body["name"].as_str());
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    let answer = match (call.status, call.open) {
        (_, true) => "opened".to_owned(),
        (0, _) => "no answer".to_owned(),
        (status, _) => status.to_string(),
    };
    let fate = call.fate.as_ref().map(|fate| format!(", by the fault {fate}")).unwrap_or_default();
    let done = if call.done || call.fate.is_none() { "" } else { ", and was never done" };
    format!("{} {}{name}: {answer}{fate}{done}", call.method, call.path)
}

fn fault(event: &FaultEvent) -> String {
    let (code, name) = (&event.code, &event.name);
    match &event.change {
        FaultChange::Injected(words) => format!("fault {name} ({code}) begins: {words}"),
        FaultChange::Bit(whom) => format!("fault {name} ({code}) bites: {whom}"),
        FaultChange::Healed(times) => format!("fault {name} ({code}) is healed, it has bitten {times} times"),
    }
}

/// What became of a process of the subject.
pub(super) fn subject(event: &SubjectEvent) -> String {
    let replica = event.replica;
    match &event.change {
        SubjectChange::Prepared { .. } => format!("replica {replica} is made ready"),
        SubjectChange::Started { pid, host } => format!("replica {replica} starts as {host} (process {pid})"),
        SubjectChange::Exited { code: Some(code), .. } => format!("replica {replica} exits with code {code}"),
        SubjectChange::Exited { signal: Some(signal), .. } => {
            format!("replica {replica} ends by signal {signal}")
        }
        SubjectChange::Exited { .. } => format!("replica {replica} has ended, nobody knows how"),
        SubjectChange::Killed => format!("replica {replica} is killed by plan"),
        SubjectChange::Unwell { failures } => {
            format!("replica {replica} is ended: it was unwell {failures} times in a row")
        }
        SubjectChange::Paused => format!("replica {replica} is stopped by plan"),
        SubjectChange::Resumed => format!("replica {replica} goes on"),
        SubjectChange::Misspoke { why } => {
            format!("somebody at the entrance of replica {replica} and the door cannot agree on TLS: {why}")
        }
        SubjectChange::Health { status: 0 } => format!("replica {replica} does not answer for its health"),
        SubjectChange::Health { status } => format!("replica {replica} answers {status} for its health"),
    }
}

fn counted(account: &AccountEvent) -> String {
    let sum = |by_pool: &BTreeMap<String, u32>| by_pool.values().sum::<u32>();
    format!(
        "at the end: {} servers, {} nodes, {} pending pods, {} stray leases, {}",
        sum(&account.servers),
        sum(&account.nodes),
        account.pending_pods,
        account.stray_leases,
        euros(account.cost_millis)
    )
}

/// Thousandths of a euro as people read them.
pub(super) fn euros(millis: u64) -> String {
    format!("€{}.{:03}", millis / 1000, millis % 1000)
}
