//! States that nobody has written down: one value of a true one is another. Each is refused whole, or can be lived with.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::anything::{furnished, step};
use super::config;
use crate::engine::Snapshot;
use crate::engine::{Engine, Token};
use crate::profile::Profile;
use crate::project::Chance;

/// All values of a document that hold no others, by their pointers.
fn leaves(value: &Value, place: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                leaves(value, &format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{place}/{index}"), all);
            }
        }
        _ => all.push(place.to_owned()),
    }
}

/// Something like what stood there.
fn another(before: &Value, chance: &mut Chance) -> Value {
    let values = match before {
        Value::Number(number) => {
            let number = number.as_u64().unwrap_or(0);
            vec![
                json!(number.wrapping_add(1)),
                json!(0),
                json!(u64::MAX),
                json!(u64::MAX - 1),
                json!(-1),
                json!(null),
            ]
        }
        Value::String(text) if text.contains("T0") => {
            ["1970-01-01T00:00:00Z", "2554-07-21T23:34:33.709551615Z", "9999-01-01T00:00:00Z", ""]
                .map(Value::from)
                .into()
        }
        Value::String(_) => ["", "other", "10.0.0.0/32", "255.255.255.255", "::"].map(Value::from).into(),
        Value::Bool(is) => vec![json!(!is)],
        _ => vec![json!(1), json!("2026-01-01T00:00:00Z"), json!("x")],
    };
    values[usize::try_from(chance.draw() % values.len() as u64).unwrap()].clone()
}

/// Forges six states one after the other, and lives with those that are accepted.
fn forge(seed: u64, seeds: &[u64]) {
    let mut rig = furnished(Profile::Current);
    let catalogue = Arc::clone(&rig.engine.project.catalogue);
    let state: Value = serde_json::from_str(&rig.engine.snapshot(rig.now).to_string()).unwrap();
    let mut all = Vec::new();
    leaves(&state, "", &mut all);
    // What everybody has is most of it.
    all.retain(|place| !place.starts_with("/project/images/things/") || place.contains("things/2"));
    let mut chance = Chance::new(seed);
    for _ in 0..6 {
        let place = &all[usize::try_from(chance.draw() % all.len() as u64).unwrap()];
        let mut forged = state.clone();
        let leaf = forged.pointer_mut(place).unwrap();
        *leaf = another(leaf, &mut chance);
        let Ok(snapshot) = Snapshot::parse(&forged.to_string()) else { continue };
        let Ok(mut engine) = Engine::resume(snapshot, Arc::clone(&catalogue), rig.now) else { continue };
        engine.admit(Token { secret: "token".to_owned(), read_only: false });
        rig.engine = engine;
        for seed in seeds {
            step(&mut rig, *seed);
        }
    }
}

#[test]
fn an_address_is_not_given_twice() {
    forge(
        5_384_192_083_718_838_591,
        &[
            13_351_443_184_268_243_864,
            13_472_065_314_738_369_277,
            184_339_769_741_257_983,
            14_349_253_909_308_672_055,
            17_790_382_195_018_555_335,
            15_554_810_940_228_533_050,
            1_842_125_054_811_713_717,
            3_136_740_798_710_204_498,
            8_727_860_833_580_794_707,
            795_146_080_685_416_553,
            6_001_162_293_491_704_633,
            11_107_806_025_505_341_309,
        ],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..config() })]

    #[test]
    fn a_forged_state_is_refused_or_does_no_harm(seed in any::<u64>(), seeds in prop::collection::vec(any::<u64>(), 12)) {
        forge(seed, &seeds);
    }
}
