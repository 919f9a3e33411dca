//! What troubles say and how they are written, tested.

use serde_json::{Value, json};

use crate::{Trouble, What};

#[test]
fn bad_troubles_are_refused_with_a_sentence_that_names_the_field() {
    let cases = [
        (json!([]), "a trouble is an object with a 'kind'"),
        (json!({}), "missing field `kind`"),
        (json!({"kind": "sold"}), "unknown variant `sold`"),
        (json!({"kind": "sold_out", "place": "fsn1"}), "unknown field `place`"),
        (json!({"kind": "sold_out", "location": 3}), "'location': invalid type"),
        (json!({"kind": "sold_out", "count": -1}), "'count': invalid value"),
        (json!({"kind": "sold_out", "count": 0}), "'count' must be at least 1"),
        (json!({"kind": "sold_out", "per_cent": 0}), "'per_cent' must be more than 0"),
        (json!({"kind": "sold_out", "per_cent": 101}), "'per_cent' must be more than 0"),
        (json!({"kind": "sold_out", "from": "soon"}), "'from': "),
        (json!({"kind": "sold_out", "for_s": 1, "until": "2026-01-01T00:00:00Z"}), "exclude each other"),
        (
            json!({"kind": "sold_out", "from": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}),
            "'until' must be later",
        ),
        (json!({"kind": "quota"}), "one of 'servers'"),
        (json!({"kind": "slow"}), "'times' or 'by_s' is needed"),
        (json!({"kind": "slow", "times": "twice"}), "'times': invalid type"),
        (json!({"kind": "stuck", "of": {"label": "x"}}), "unknown field `label`"),
        (json!({"kind": "stuck", "of": {"labels": "a in"}}), "'of.labels': "),
        (json!({"kind": "status_stuck", "status": "hanging"}), "unknown variant `hanging`"),
        (json!({"kind": "error"}), "missing field `code`"),
        (json!({"kind": "error", "code": "bad_gatway"}), "'code' \"bad_gatway\" is none"),
        (json!({"kind": "error", "code": "x", "status": 200}), "'status' must lie"),
        (json!({"kind": "error", "code": "timeout", "on": {"path": "servers"}}), "'on.path' is below"),
        (json!({"kind": "error", "code": "timeout", "on": {"method": "PATCH"}}), "'on.method' must be"),
        (json!({"kind": "rate_limit"}), "one of 'per_hour'"),
        (json!({"kind": "rate_limit", "spent": "once", "per_cent": 5}), "'per_cent' makes no sense"),
        (json!({"kind": "unseen"}), "'lag_s' or 'reads' is needed"),
        (json!({"kind": "maintenance", "what": 1}), "unknown field `what`"),
    ];
    for (trouble, why) in cases {
        let error = trouble.to_string().parse::<Trouble>().unwrap_err().to_string();
        assert!(error.starts_with("read the trouble: ") && error.contains(why), "{trouble}: {error}");
    }
    assert!("{".parse::<Trouble>().unwrap_err().to_string().contains("no JSON"));
}

#[test]
fn a_trouble_is_written_as_it_is_read() {
    for text in [
        json!({"kind": "sold_out", "location": "fsn1", "refused_as": "invalid_input", "per_cent": 12.5, "count": 3}),
        json!({"kind": "error", "on": {"method": "POST"}, "when": "after", "code": "timeout", "html": false}),
        json!({"kind": "stuck", "command": "start_server", "of": {"labels": "a=b"}, "for_s": 10}),
        json!({"kind": "retired", "server_type": "cx23", "from": "2026-01-01T00:00:00Z"}),
        json!({"kind": "lingering", "reads": 3, "status": "deleting"}),
    ] {
        let trouble: Trouble = text.to_string().parse().unwrap();
        assert_eq!(serde_json::to_value(&trouble).unwrap(), text);
        assert_eq!(serde_json::from_value::<Trouble>(text).unwrap(), trouble);
    }
}

#[test]
fn a_trouble_made_in_code_is_checked_too() {
    let mut rig = crate::rig::Rig::new();
    let of = crate::Things { labels: Some("a in".to_owned()), ..crate::Things::default() };
    let trouble = Trouble::new(What::Stuck { command: None, of });
    assert!(rig.engine.inject(rig.now, trouble).is_err());
    assert_eq!(Value::Null, json!(null));
}
