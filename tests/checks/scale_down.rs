//! Stories about giving nodes back.

use super::Case;
use super::story::Story;

/// A node whose only pod leaves it at 100 s.
fn emptied() -> Story {
    Story::new().node(0, 1, "small").runs(10, "web-1", "small-1").pod_gone(100, "web-1")
}

/// Two nodes used to three quarters; the second stays so.
fn loaded() -> Story {
    let story = Story::new().node(0, 1, "small").node(0, 2, "small");
    story
        .runs(10, "web-1", "small-1")
        .runs(10, "web-2", "small-1")
        .runs(10, "web-3", "small-2")
        .runs(10, "web-4", "small-2")
}

pub(crate) fn cases() -> Vec<Case> {
    let unready = || emptied().ready(110, "small-1", false);
    let never_ready = || {
        let story = Story::new().pending(90, "web-1").order(100, "small", 7);
        story.pod_gone(120, "web-1").node_unready(150, 7, "small")
    };
    let kept = || Story::new().pool("small", 1, 3, 4000).node(0, 1, "small");
    vec![
        ("SD-01", "gone_in_time", "held", emptied().removal(715, 1).end(2000)),
        ("SD-01", "never_gone", "violated", emptied().end(2000)),
        (
            "SD-01",
            "gone_too_early",
            "violated",
            loaded().pod_gone(100, "web-1").pod_gone(100, "web-2").removal(400, 1).end(2000),
        ),
        ("SD-01", "put_off_by_an_order", "held", {
            let story = emptied()
                .pending(500, "web-2")
                .order(512, "small", 7)
                .node(560, 7, "small")
                .runs(570, "web-2", "small-7");
            story.removal(1130, 1).end(2000)
        }),
        ("SD-01", "at_its_minimum", "unknown", kept().end(2000)),
        ("SD-01", "history_ends_too_soon", "unknown", emptied().end(800)),
        ("SD-10", "gone_in_time", "held", unready().removal(1330, 1).end(3000)),
        ("SD-10", "never_gone", "violated", unready().end(3000)),
        ("SD-10", "gone_too_early", "violated", unready().removal(720, 1).end(3000)),
        (
            "SD-10",
            "switched_off",
            "violated",
            unready().option("unready_enabled", "false").removal(1330, 1).end(3000),
        ),
        ("SD-10", "switched_off_and_stays", "held", unready().option("unready_enabled", "false").end(3000)),
        ("SD-10", "always_ready", "unknown", emptied().removal(715, 1).end(3000)),
        ("SD-13", "reaches_zero", "held", emptied().removal(715, 1).end(2000)),
        ("SD-13", "one_is_left", "violated", emptied().end(2000)),
        ("SD-13", "may_not_be_empty", "unknown", kept().end(2000)),
        ("FT-18", "gone_in_time", "held", never_ready().removal(2300, 7).end(4000)),
        ("FT-18", "never_gone", "violated", never_ready().end(4000)),
        ("FT-18", "becomes_ready", "unknown", never_ready().ready(400, "small-7", true).end(4000)),
    ]
}
