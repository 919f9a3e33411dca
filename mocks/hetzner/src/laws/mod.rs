//! What always holds, whatever is asked for and in whatever order.
//!
//! Random requests go to an engine, good and bad ones, with time passing between them. After each one the whole state
//! is looked at.

mod anything;
mod forged;
mod invariants;
mod requests;
mod troubled;
mod wild;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::profile::Profile;
use crate::project::Project;
use crate::rig::Rig;

use invariants::Witness;
use requests::Dice;

fn config() -> ProptestConfig {
    ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() }
}

fn profiles() -> impl Strategy<Value = Profile> {
    prop::sample::select(vec![Profile::Y2024, Profile::June2026, Profile::Current])
}

fn throws() -> impl Strategy<Value = Vec<[u16; 8]>> {
    prop::collection::vec(any::<[u16; 8]>(), 1..60)
}

/// What a refused request has changed beyond what every request changes.
fn left_behind(mut before: Project, after: &Project) -> Vec<String> {
    before.correlation = after.correlation.clone();
    before.limit = after.limit.clone();
    before.now = after.now;
    if before == *after { Vec::new() } else { changed(&written(&before), &written(after)) }
}

fn written(project: &Project) -> Value {
    serde_json::to_value(project).unwrap()
}

/// The parts of the state that differ.
fn changed(before: &Value, after: &Value) -> Vec<String> {
    let fields = before.as_object().unwrap();
    let other = fields.iter().filter(|(name, value)| after[name.as_str()] != **value);
    other.map(|(name, value)| format!("{name}: {value} -> {}", after[name.as_str()])).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_sequence_of_requests_keeps_the_invariants(throws in throws(), profile in profiles()) {
        let mut rig = Rig::of(profile);
        rig.engine.limit_requests(rig.now, 1_000_000);
        let mut witness = Witness::default();
        for throw in throws {
            let (method, path, body) = requests::next(&mut rig, &mut Dice::new(throw));
            let before = rig.engine.project.clone();
            let (status, answer) = rig.ask(method, &path, &body);
            prop_assert!(status < 500, "{method} {path} {body}: {status} {answer}");
            if status >= 400 {
                prop_assert!(answer["error"]["code"].is_string(), "{method} {path} {body}: {answer}");
                let left = left_behind(before, &rig.engine.project);
                prop_assert!(left.is_empty(), "{method} {path} {body} was refused with {answer} and changed {left:?}");
            }
            witness.look(&rig.engine.project);
        }
        rig.pass(7200);
        witness.look(&rig.engine.project);
        Witness::nothing_runs(&rig.engine.project);
    }

    #[test]
    fn the_same_requests_are_answered_the_same(throws in throws()) {
        let run = || {
            let mut rig = Rig::new();
            throws.iter().map(|throw| {
                let (method, path, body) = requests::next(&mut rig, &mut Dice::new(*throw));
                rig.ask(method, &path, &body)
            }).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn what_is_written_down_is_read_again(throws in throws()) {
        let mut rig = Rig::new();
        for throw in throws {
            let (method, path, body) = requests::next(&mut rig, &mut Dice::new(throw));
            rig.ask(method, &path, &body);
        }
        let text = serde_json::to_string(&rig.engine.project).unwrap();
        let again: Project = serde_json::from_str(&text).unwrap();
        let left = changed(&written(&again), &written(&rig.engine.project));
        prop_assert!(again == rig.engine.project, "not the same: {left:?}");
    }

    #[test]
    fn the_pages_of_a_list_show_each_once(count in 0usize..40, per_page in 1u64..60) {
        let mut rig = Rig::new();
        let mut made: Vec<u64> = Vec::new();
        for n in 0..count {
            let group = rig.post("/placement_groups", &json!({"name": format!("group-{n}"), "type": "spread"}));
            made.push(group["placement_group"]["id"].as_u64().unwrap());
        }
        let (mut met, mut page) = (Vec::new(), Some(1));
        while let Some(number) = page {
            let answer = rig.get(&format!("/placement_groups?per_page={per_page}&page={number}"));
            met.extend(answer["placement_groups"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap()));
            page = answer["meta"]["pagination"]["next_page"].as_u64();
        }
        prop_assert_eq!(met, made);
    }
}
