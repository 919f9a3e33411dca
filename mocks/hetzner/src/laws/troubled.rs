//! The same while all sorts of things go wrong, and that everything comes to its end when they are healed.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::laws::invariants::Witness;
use crate::laws::requests::{self, Dice};
use crate::laws::{changed, config, left_behind, throws, written};
use crate::project::Project;
use crate::rig::Rig;
use crate::trouble::Trouble;

/// Troubles that let what is refused be as it was.
fn troubles() -> Vec<Value> {
    vec![
        json!({"kind": "stuck", "per_cent": 20}),
        json!({"kind": "stuck", "command": "create_*", "count": 2}),
        json!({"kind": "stuck", "command": "start_server", "for_s": 3600}),
        json!({"kind": "fails", "command": "*_server", "per_cent": 20}),
        json!({"kind": "slow", "times": 5}),
        json!({"kind": "status_stuck", "status": "starting", "per_cent": 50}),
        json!({"kind": "status_stuck", "status": "initializing", "for_s": 600}),
        json!({"kind": "status_stuck", "status": "running"}),
        json!({"kind": "sold_out", "per_cent": 30}),
        json!({"kind": "quota", "servers": 2}),
        json!({"kind": "no_addresses", "per_cent": 30}),
        json!({"kind": "retired", "server_type": "cx23"}),
        json!({"kind": "vanished", "image": "debian-12"}),
        json!({"kind": "unseen", "reads": 2}),
        json!({"kind": "lingering", "lag_s": 60, "status": "deleting"}),
        json!({"kind": "late_release", "lag_s": 600}),
        json!({"kind": "error", "code": "unavailable", "status": 499, "per_cent": 10}),
        json!({"kind": "rate_limit", "others_per_s": 2}),
        json!({"kind": "torn_list", "tear": "repeated_item"}),
        json!({"kind": "token_read_only", "for_s": 30}),
    ]
}

fn inject(rig: &mut Rig, chosen: &[usize]) {
    for index in chosen {
        let trouble: Trouble = troubles()[*index].to_string().parse().unwrap();
        rig.engine.inject(rig.now, trouble).unwrap();
    }
}

fn chosen() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..troubles().len(), 1..5)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_invariants_hold_and_healing_ends_everything(throws in throws(), chosen in chosen()) {
        let mut rig = Rig::new();
        inject(&mut rig, &chosen);
        let mut witness = Witness::default();
        for throw in throws {
            let (method, path, body) = requests::next(&mut rig, &mut Dice::new(throw));
            let mut before = rig.engine.project.clone();
            let (status, answer) = rig.ask(method, &path, &body);
            prop_assert!(status < 500, "{method} {path} {body}: {status} {answer}");
            if status >= 400 {
                // Only the troubles know of it.
                before.troubles = rig.engine.project.troubles.clone();
                let left = left_behind(before, &rig.engine.project);
                prop_assert!(left.is_empty(), "{method} {path} {body} was refused with {answer} and changed {left:?}");
            }
            witness.look(&rig.engine.project);
        }
        rig.engine.heal_all(rig.now);
        witness.look(&rig.engine.project);
        rig.pass(100_000);
        witness.look(&rig.engine.project);
        Witness::nothing_runs(&rig.engine.project);
    }

    #[test]
    fn what_is_written_down_is_read_again(throws in throws(), chosen in chosen()) {
        let mut rig = Rig::new();
        inject(&mut rig, &chosen);
        for throw in throws {
            let (method, path, body) = requests::next(&mut rig, &mut Dice::new(throw));
            rig.ask(method, &path, &body);
        }
        let text = serde_json::to_string(&rig.engine.project).unwrap();
        let again: Project = serde_json::from_str(&text).unwrap();
        let left = changed(&written(&again), &written(&rig.engine.project));
        prop_assert!(left.is_empty() && again == rig.engine.project, "not the same: {left:?}");
    }
}
