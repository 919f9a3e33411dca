//! The seed decides which troubles bite, tested.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::Snapshot;
use crate::engine::Engine;
use crate::rig::Rig;

fn troubles() -> [Value; 8] {
    [
        json!({"kind": "error", "on": {"method": "GET"}, "code": "unavailable", "per_cent": 30}),
        json!({"kind": "error", "on": {"method": "POST"}, "when": "after", "code": "timeout", "per_cent": 30}),
        json!({"kind": "sold_out", "per_cent": 40, "count": 3}),
        json!({"kind": "stuck", "per_cent": 20}),
        json!({"kind": "fails", "command": "start_server", "per_cent": 50}),
        json!({"kind": "unseen", "reads": 2, "per_cent": 50}),
        json!({"kind": "lingering", "lag_s": 20}),
        json!({"kind": "torn_list", "tear": "missing_item", "per_cent": 50, "for_s": 50}),
    ]
}

/// What was answered to a few requests, and how often each trouble had bitten by then.
fn run(rig: &mut Rig, steps: &[(u8, u8)]) -> Vec<(u16, Value, Vec<u64>)> {
    let mut told = Vec::new();
    for (what, which) in steps {
        let (status, answer) = match what % 4 {
            0 => rig.order(&format!("s{}", which % 4)),
            1 => rig.ask("GET", "/servers", &json!(null)),
            2 => {
                let ids: Vec<u64> = rig.engine.project.servers.all().map(|it| it.head.id).collect();
                let id = ids.get(usize::from(*which) % ids.len().max(1)).copied().unwrap_or(1);
                rig.ask("DELETE", &format!("/servers/{id}"), &json!(null))
            }
            _ => {
                rig.pass(u64::from(*which));
                (0, Value::Null)
            }
        };
        told.push((status, answer, rig.engine.troubles(rig.now).iter().map(|it| it.bites).collect()));
    }
    told
}

fn config() -> Config {
    Config { failure_persistence: None, cases: 64, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_same_requests_meet_the_same_troubles(
        steps in prop::collection::vec((any::<u8>(), any::<u8>()), 1..30),
        chosen in prop::collection::vec(0..8usize, 1..5),
    ) {
        let rig = || {
            let mut rig = Rig::new();
            for index in &chosen {
                rig.inject(&troubles()[*index]);
            }
            rig
        };
        prop_assert_eq!(run(&mut rig(), &steps), run(&mut rig(), &steps));
    }

    /// A trouble that never bites changes nothing for the others, and neither does writing all down in between.
    #[test]
    fn one_more_or_a_restart_changes_nothing(
        before in prop::collection::vec((any::<u8>(), any::<u8>()), 0..15),
        after in prop::collection::vec((any::<u8>(), any::<u8>()), 1..15),
        chosen in prop::collection::vec(0..8usize, 1..5),
    ) {
        let (mut one, mut other) = (Rig::new(), Rig::new());
        for index in &chosen {
            one.inject(&troubles()[*index]);
            other.inject(&troubles()[*index]);
        }
        other.inject(&json!({"kind": "stuck", "of": {"name": "nobody"}, "per_cent": 50}));
        let strip = |mut told: Vec<(u16, Value, Vec<u64>)>| {
            for (_, _, bites) in &mut told {
                bites.truncate(chosen.len());
            }
            told
        };
        prop_assert_eq!(run(&mut one, &before), strip(run(&mut other, &before)));
        let written = other.engine.snapshot(other.now).to_string();
        let catalogue = other.engine.project.catalogue.clone();
        let mut resumed = Engine::resume(Snapshot::parse(&written).unwrap(), catalogue, other.now).unwrap();
        resumed.admit(crate::Token { secret: "token".to_owned(), read_only: false });
        other.engine = resumed;
        prop_assert_eq!(run(&mut one, &after), strip(run(&mut other, &after)));
    }
}

#[test]
fn chance_bites_now_and_then() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "error", "code": "unavailable", "per_cent": 25}));
    let bitten = (0..400).filter(|_| rig.ask("GET", "/servers", &json!(null)).0 == 503).count();
    assert!((60..140).contains(&bitten), "{bitten}");
    assert_eq!(rig.bites(id), bitten as u64);
}

#[test]
fn the_seed_and_the_number_of_a_trouble_decide() {
    let bites = |seed: u64, before: usize| {
        let mut rig = Rig::new();
        let catalogue = rig.engine.project.catalogue.clone();
        rig.engine = Engine::new(catalogue, crate::Profile::Current, seed, rig.now);
        rig.engine.admit(crate::Token { secret: "token".to_owned(), read_only: false });
        for _ in 0..before {
            rig.inject(&json!({"kind": "maintenance"}));
        }
        rig.inject(&json!({"kind": "error", "code": "unavailable", "per_cent": 50}));
        (0..64).map(|_| rig.ask("GET", "/servers", &json!(null)).0).collect::<Vec<u16>>()
    };
    assert_eq!(bites(1, 0), bites(1, 0));
    assert_ne!(bites(1, 0), bites(2, 0));
    assert_ne!(bites(1, 0), bites(1, 1));
}
