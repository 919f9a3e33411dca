//! Pods, nodes and servers. Each node and each server has a bar; where there are too many, each pool has a chart, and only
//! those that convict keep a bar of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::chart::Counts;
use super::lane::{Band, Bar, Row, span};
use super::pins::Pins;
use super::scale::Scale;
use crate::history::query::{Node, REMOVAL_TAINT, Server, Track, Tracks, nodes, pods, servers};
use crate::history::{History, What};
use crate::report::moment::since_start;
use crate::report::notes::euros;

/// More than this are not drawn one by one.
const ROWS: usize = 80;
/// More looks than this at one node are not drawn one by one either.
const SEGMENTS: usize = 200;
/// So many pools have a colour of their own; then it begins anew.
const COLOURS: usize = 8;

/// States of a node, in the order of the layers.
const STATES: [(&str, &str); 5] = [
    ("ready", "ready"),
    ("unready", "not ready"),
    ("tainted", "cordoned or tainted"),
    ("deleting", "being removed"),
    ("booting", "booting: bought, no node yet"),
];
const BOOTING: usize = 4;

pub(super) fn pods_band(history: &History, scale: Scale) -> Band {
    let mut counts = Counts::<2>::new();
    for track in pods(history).values() {
        for (layer, phase) in ["Running", "Pending"].into_iter().enumerate() {
            for spell in track.spells(|pod| pod.phase == phase) {
                let (from, to) = span(history, scale, &spell);
                counts.add(layer, from, to, scale.end());
            }
        }
    }
    let layers = [("running", "running"), ("pending", "pending")];
    let label = format!("at most {}", counts.most());
    let row = Row { label, chart: Some(counts.chart(scale, layers)), ..Row::default() };
    let legend = vec![("fill running", "running"), ("fill pending", "pending")];
    Band { id: "pods", title: "Pods".into(), rows: vec![row], legend }
}

fn state(node: &Node) -> usize {
    let barred = |taint: &crate::terms::Taint| taint.effect != "PreferNoSchedule" && !startup(&taint.key);
    if node.ending || node.has_taint(REMOVAL_TAINT) {
        3
    } else if !node.ready {
        1
    } else if node.unschedulable || node.taints.iter().any(barred) {
        2
    } else {
        0
    }
}

/// Taints that a node has while it is not ready, and that say nothing more than that.
fn startup(key: &str) -> bool {
    key.starts_with("node.kubernetes.io/") || key.starts_with("node.cloudprovider.kubernetes.io/")
}

/// The times of the states of a node, from the purchase of its server on.
fn spells(
    history: &History,
    scale: Scale,
    track: &Track<Node>,
    servers: &Tracks<u64, Server>,
) -> Vec<(usize, Duration, Duration)> {
    let mut spells: Vec<(usize, Duration, Duration)> = Vec::new();
    let server = track.last().and_then(Node::server).and_then(|id| servers.get(&id)?.first());
    let began = history.header.began;
    if let (Some(server), Some(first)) = (server, track.first())
        && server.at < first.at
    {
        spells.push((BOOTING, server.at - began, first.at - began));
    }
    let mut open = false;
    for seen in &track.seen {
        let (at, state) = (seen.at - began, seen.state.as_ref().map(state));
        match spells.last_mut() {
            Some((last, _, _)) if open && state == Some(*last) => continue,
            Some((_, _, to)) if open => *to = at,
            _ => {}
        }
        open = state.is_some();
        spells.extend(state.map(|state| (state, at, scale.end())));
    }
    spells
}

pub(super) fn nodes_band(history: &History, scale: Scale, pins: &Pins<'_>) -> Band {
    let (nodes, servers) = (nodes(history), servers(history));
    let pool = |track: &Track<Node>| {
        let server = track.last().and_then(Node::server).and_then(|id| servers.get(&id)?.last());
        server.and_then(|server| server.pool.clone()).unwrap_or_default()
    };
    let mut by_pool: BTreeMap<String, Vec<(&String, &Track<Node>)>> = BTreeMap::new();
    for (name, track) in &nodes {
        by_pool.entry(pool(track)).or_default().push((name, track));
    }
    let mut rows = Vec::new();
    for (pool, mut tracks) in by_pool {
        tracks.sort_by_key(|(_, track)| track.first().map(|seen| seen.at));
        let named = if pool.is_empty() { "none".to_owned() } else { pool };
        if nodes.len() > ROWS {
            let mut counts = Counts::<5>::new();
            for (_, track) in &tracks {
                for (state, from, to) in spells(history, scale, track, &servers) {
                    counts.add(state, from, to, scale.end());
                }
            }
            let chart = Some(counts.chart(scale, STATES));
            let label = format!("pool {named}: {} nodes, at most {}", tracks.len(), counts.most());
            rows.push(Row { label, chart, ..Row::default() });
            let convicting = |track: &Track<Node>| track.seen.iter().any(|seen| pins.has(seen.event));
            tracks.retain(|(_, track)| convicting(track));
            tracks.truncate(ROWS / 2);
        } else {
            rows.push(Row { label: format!("pool {named}"), ..Row::default() });
        }
        for (name, track) in tracks {
            let spells = spells(history, scale, track, &servers);
            let bars = spells.into_iter().take(SEGMENTS).map(|(state, from, to)| Bar {
                from,
                to,
                class: format!("node {}", STATES[state].0),
                text: String::new(),
                title: format!(
                    "{name}: {}, +{} to +{} ({})",
                    STATES[state].1,
                    since_start(from),
                    since_start(to),
                    since_start(to.saturating_sub(from))
                ),
            });
            let marks = pins.marks(track.seen.iter().map(|seen| seen.event));
            let hint = format!("node {name}, pool {named}");
            rows.push(Row { label: name.clone(), hint, bars: bars.collect(), marks, chart: None });
        }
    }
    let mut legend = vec![("bar node booting", STATES[BOOTING].1)];
    legend.extend([
        ("bar node unready", STATES[1].1),
        ("bar node ready", STATES[0].1),
        ("bar node tainted", STATES[2].1),
        ("bar node deleting", STATES[3].1),
    ]);
    Band { id: "nodes", title: format!("Nodes ({})", nodes.len()), rows, legend }
}

pub(super) fn servers_band(history: &History, scale: Scale, pins: &Pins<'_>) -> Band {
    let servers = servers(history);
    let facts = machines(history);
    let pools: BTreeSet<String> =
        servers.values().filter_map(|track| track.last()).map(|server| pool_of(server).to_owned()).collect();
    let mut rows = Vec::new();
    for (number, pool) in pools.iter().enumerate() {
        let colour = number % COLOURS;
        let of_pool = |track: &Track<Server>| track.last().is_some_and(|server| pool_of(server) == pool);
        let mut tracks: Vec<_> = servers.iter().filter(|(_, track)| of_pool(track)).collect();
        tracks.sort_by_key(|(id, track)| (track.first().map(|seen| seen.at), **id));
        if servers.len() > ROWS {
            let mut counts = Counts::<1>::new();
            for spell in tracks.iter().flat_map(|(_, track)| track.spells(|_| true)) {
                let (from, to) = span(history, scale, &spell);
                counts.add(0, from, to, scale.end());
            }
            let class = format!("pool-{colour}");
            let chart = Some(counts.chart(scale, [(class.as_str(), pool.as_str())]));
            let label = format!("pool {pool}: {} servers, at most {}", tracks.len(), counts.most());
            rows.push(Row { label, chart, ..Row::default() });
            tracks.retain(|(_, track)| track.seen.iter().any(|seen| pins.has(seen.event)));
            tracks.truncate(ROWS / 2);
        }
        let machine = |id: &u64| facts.get(id).map_or("", String::as_str);
        rows.extend(
            tracks.iter().map(|(id, track)| server_row(history, scale, pins, track, machine(id), colour)),
        );
    }
    let cost = history.events.iter().rev().find_map(|event| match &event.what {
        What::Account(account) => Some(format!(", {} in all", euros(account.cost_millis))),
        _ => None,
    });
    let title = format!("Servers ({}{})", servers.len(), cost.unwrap_or_default());
    let legend =
        vec![("bar server pool-0", "bought to deleted, by pool"), ("bar server starting", "not running yet")];
    Band { id: "servers", title, rows, legend }
}

fn pool_of(server: &Server) -> &str {
    server.pool.as_deref().unwrap_or("none")
}

fn server_row(
    history: &History,
    scale: Scale,
    pins: &Pins<'_>,
    track: &Track<Server>,
    machine: &str,
    colour: usize,
) -> Row {
    let last = track.last();
    let (name, pool) = last.map(|server| (server.name.clone(), pool_of(server))).unwrap_or_default();
    let mut bars = Vec::new();
    for spell in track.spells(|_| true) {
        let (from, to) = span(history, scale, &spell);
        let lived = since_start(to.saturating_sub(from));
        let end = if spell.to.is_some() { "deleted" } else { "still there" };
        let title =
            format!("{name} ({machine}): bought +{}, {end} +{}, {lived}", since_start(from), since_start(to));
        let text = format!("{pool} · {lived}");
        bars.push(Bar { from, to, class: format!("server pool-{colour}"), text, title });
    }
    for spell in track.spells(|server| server.status != "running") {
        let (from, to) = span(history, scale, &spell);
        let title = format!("{name}: not running, {}", since_start(to.saturating_sub(from)));
        bars.push(Bar { from, to, class: "server starting".into(), text: String::new(), title });
    }
    let marks = pins.marks(track.seen.iter().map(|seen| seen.event));
    Row { label: name, hint: format!("{machine}, pool {pool}"), bars, marks, chart: None }
}

/// Type and place of each server.
fn machines(history: &History) -> BTreeMap<u64, String> {
    let of = |event: &crate::history::Event| match &event.what {
        What::Server(server) => Some((server.id, format!("{}, {}", server.machine, server.location))),
        _ => None,
    };
    history.events.iter().filter_map(of).collect()
}
