//! What always holds, whatever is asked for and in whatever order.
//!
//! Random requests go to an engine, good and bad ones, with time passing between them. After each one the whole state
//! is looked at.

mod invariants;
mod requests;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::rig::Rig;

use invariants::Witness;
use requests::Dice;

fn config() -> ProptestConfig {
    ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() }
}

fn throws() -> impl Strategy<Value = Vec<[u16; 8]>> {
    prop::collection::vec(any::<[u16; 8]>(), 1..60)
}

/// The state without what every request changes.
fn state(rig: &Rig) -> Value {
    let mut state = serde_json::to_value(&rig.engine.project).unwrap();
    let fields = state.as_object_mut().unwrap();
    for field in ["correlation", "limit", "now", "troubles"] {
        fields.remove(field);
    }
    state
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_sequence_of_requests_keeps_the_invariants(throws in throws()) {
        let mut rig = Rig::new();
        rig.engine.limit_requests(rig.now, 1_000_000);
        let mut witness = Witness::default();
        for throw in throws {
            let before = state(&rig);
            let (method, path, body) = requests::next(&mut rig, &mut Dice::new(throw));
            let (status, answer) = rig.ask(method, &path, &body);
            prop_assert!(status < 500, "{method} {path} {body}: {status} {answer}");
            if status >= 400 {
                prop_assert!(answer["error"]["code"].is_string(), "{method} {path} {body}: {answer}");
                prop_assert_eq!(&state(&rig), &before, "{} {} {} was refused with {} and left something", method, path, body, answer);
            }
            witness.look(&rig.engine.project);
        }
        rig.pass(7200);
        witness.look(&rig.engine.project);
        witness.nothing_runs(&rig.engine.project);
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
        let again: crate::project::Project = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&again, &rig.engine.project);
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
