//! Whoever follows a shelf knows what lies on it, and what lay there is remembered.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const SHELF: &str = "things";

/// The revisions of what lies on the shelf, by place.
type Known = BTreeMap<Key, u64>;

/// A write to one of a few places.
#[derive(Clone, Copy, Debug)]
struct Move {
    place: u8,
    removes: bool,
}

fn moves(most: usize) -> impl Strategy<Value = Vec<Move>> {
    vec((0..6_u8, any::<bool>()).prop_map(|(place, removes)| Move { place, removes }), 1..most)
}

fn draft(place: u8) -> Draft {
    let value = json!({"metadata": {"name": format!("n{place}"), "namespace": format!("s{}", place % 2)}});
    Draft::new(&value, Box::default(), None)
}

fn make(store: &Store, change: Move) {
    let draft = draft(change.place);
    let written = match (store.get(SHELF, draft.key()), change.removes) {
        (Some(old), true) => store.remove(SHELF, draft, &old),
        (Some(old), false) => store.put(SHELF, draft, Expect::This(&old)),
        (None, _) => store.put(SHELF, draft, Expect::Nothing),
    };
    written.expect("nobody else writes");
}

fn known(snapshot: &Snapshot) -> Known {
    snapshot.objects.iter().map(|object| (object.key.clone(), object.revision)).collect()
}

/// Takes in the next changes after `reached`, and checks that they are told in order.
fn follow(store: &Store, known: &mut Known, reached: u64, batch: usize) -> Result<u64, Compacted> {
    let (changes, next) = store.since(SHELF, reached, batch)?;
    let mut last = reached;
    for change in changes {
        assert!(change.revision > last && change.revision <= next, "changes come in order");
        assert_eq!(known.get(&change.object.key).copied(), change.old.as_ref().map(|old| old.revision));
        last = change.revision;
        if change.deleted {
            known.remove(&change.object.key);
        } else {
            known.insert(change.object.key.clone(), change.object.revision);
        }
    }
    Ok(next)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_follower_ends_with_what_is_there(moves in moves(80), batches in vec(1..9_usize, 1..4)) {
        let store = Store::new();
        let done = AtomicBool::new(false);
        let ends: Vec<Known> = thread::scope(|scope| {
            let followers: Vec<_> = batches.iter().map(|batch| {
                scope.spawn(|| {
                    let snapshot = store.list(SHELF, "");
                    let (mut known, mut reached) = (known(&snapshot), snapshot.revision);
                    loop {
                        // Asked before the changes are taken: what comes later is taken in the next turn.
                        let last = done.load(Ordering::SeqCst);
                        let next = follow(&store, &mut known, reached, *batch).expect("the log is long enough");
                        if last && next == reached {
                            return known;
                        }
                        reached = next;
                    }
                })
            }).collect();
            for change in &moves {
                make(&store, *change);
            }
            done.store(true, Ordering::SeqCst);
            followers.into_iter().map(|follower| follower.join().expect("a follower fails by itself")).collect()
        });
        let there = known(&store.list(SHELF, ""));
        for end in ends {
            prop_assert_eq!(&end, &there);
        }
    }

    #[test]
    fn every_past_is_remembered(moves in moves(40), batch in 1..9_usize) {
        let store = Store::new();
        let mut past = vec![(store.revision(), Known::new())];
        for change in moves {
            make(&store, change);
            past.push((store.revision(), known(&store.list(SHELF, ""))));
        }
        for (revision, was) in &past {
            prop_assert_eq!(&known(&store.list_at(SHELF, "", *revision).unwrap()), was);
            let in_one = store.list_at(SHELF, "s1", *revision).unwrap();
            let expected: Known =
                was.iter().filter(|(key, _)| &*key.namespace == "s1").map(|(key, at)| (key.clone(), *at)).collect();
            prop_assert_eq!(known(&in_one), expected);
            let (mut now, mut reached) = (was.clone(), *revision);
            while reached < store.revision() {
                reached = follow(&store, &mut now, reached, batch).unwrap();
            }
            prop_assert_eq!(&now, &past.last().unwrap().1);
        }
    }
}

#[test]
fn what_was_forgotten_is_refused_and_nothing_else() {
    let store = Store::new();
    let change = Move { place: 0, removes: false };
    make(&store, change);
    let forgotten = store.revision();
    make(&store, change);
    store.compact();
    assert_eq!(store.since(SHELF, forgotten, 9).unwrap_err(), Compacted);
    assert_eq!(store.list_at(SHELF, "", forgotten).unwrap_err(), Compacted);
    let now = store.revision();
    assert_eq!(store.since(SHELF, now, 9).unwrap().0.len(), 0);
    make(&store, change);
    assert_eq!(store.since(SHELF, now, 9).unwrap().0.len(), 1);
}

#[test]
fn other_shelves_move_the_revision_and_not_the_log() {
    let store = Store::new();
    make(&store, Move { place: 0, removes: false });
    let quiet = store.revision();
    for _ in 0..3 {
        let key = draft(1);
        let old = store.get("others", key.key());
        let expect = old.as_ref().map_or(Expect::Nothing, Expect::This);
        store.put("others", key, expect).unwrap();
    }
    store.compact();
    let (changes, reached) = store.since(SHELF, quiet, 9).unwrap();
    assert!(changes.is_empty());
    assert_eq!(reached, store.revision());
}
