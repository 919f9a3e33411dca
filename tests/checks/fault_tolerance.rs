//! Stories about the faults of others.

use scaleproof::terms::Api;

use super::Case;
use super::story::Story;

pub(crate) fn cases() -> Vec<Case> {
    let lost = || {
        let story = Story::new().node(0, 1, "small").runs(10, "web-1", "small-1").server_gone(100, 1);
        story
            .ready(110, "small-1", false)
            .gone(130, "Node", "small-1")
            .pod_gone(131, "web-1")
            .pending(132, "web-2")
    };
    let dropped = || {
        let watch = |story: Story| {
            story.call(100, Api::Kubernetes, "GET", "/api/v1/pods", |call| {
                call.query = "watch=true&resourceVersion=7".into();
                call.status = 410;
                call.fate = Some("expired".into());
            })
        };
        watch(Story::new()).pending(300, "web-1")
    };
    vec![
        ("FT-07", "replaced", "held", lost().order(150, "small", 7).end(900)),
        ("FT-07", "never_replaced", "violated", lost().end(900)),
        (
            "FT-07",
            "nothing_was_lost",
            "unknown",
            Story::new().pending(100, "web-1").order(112, "small", 7).end(900),
        ),
        ("FT-11", "reacts_as_before", "held", dropped().order(312, "small", 7).end(900)),
        ("FT-11", "never_reacts", "violated", dropped().end(900)),
        (
            "FT-11",
            "no_watch_was_broken",
            "unknown",
            Story::new().pending(100, "web-1").order(112, "small", 7).end(900),
        ),
    ]
}
