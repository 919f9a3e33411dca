//! Stories about minimum and maximum.

use scaleproof::terms::Timer;
use serde_json::json;

use super::Case;
use super::story::Story;

#[expect(clippy::too_many_lines, reason = "a table of stories")]
pub(crate) fn cases() -> Vec<Case> {
    let one = || Story::new().pool("small", 0, 1, 4000);
    let least = |min| Story::new().pool("small", min, 3, 4000);
    let enforced = || least(2).option("enforce_min", "true");
    let limited = || {
        let story = Story::new().option("max_nodes_total", "2");
        story.node(0, 1, "small").runs(10, "web-1", "small-1").pending(100, "web-2")
    };
    let totals = |cores: &str| {
        let story = Story::new().option("cores_total", &format!("0:{cores}"));
        let room = json!({"status": {"allocatable": {"cpu": "2", "memory": "4Gi"}}});
        story.object(0, "Node", "metal", room).pending(100, "web-1").pending(100, "web-2")
    };
    let above = || {
        let story = Story::new().pool("small", 0, 1, 4000).node(0, 1, "small").node(0, 2, "small");
        story
            .runs(10, "web-1", "small-1")
            .runs(10, "web-2", "small-2")
            .runs(10, "web-3", "small-1")
            .runs(10, "web-4", "small-2")
    };
    vec![
        ("MM-01", "up_to_the_maximum", "held", one().pending(100, "web-1").order(112, "small", 7).end(300)),
        ("MM-01", "one_too_many", "violated", {
            one().pending(100, "web-1").order(112, "small", 7).order(125, "small", 8).end(300)
        }),
        ("MM-01", "after_a_lost_answer", "violated", {
            one().pending(100, "web-1").order_lost(112, "small", 7).order(125, "small", 8).end(300)
        }),
        ("MM-01", "added_by_hand", "held", {
            one().pending(100, "web-1").order(112, "small", 7).server(114, 9, "small").end(300)
        }),
        ("MM-01", "another_pool_is_full", "held", {
            let story = Story::new().pool("big", 0, 1, 4000).pool("small", 0, 1, 4000).server(0, 9, "big");
            story.pending(100, "web-1").order(112, "small", 7).end(300)
        }),
        ("MM-01", "nothing_was_ordered", "unknown", one().end(300)),
        (
            "MM-02",
            "down_to_the_minimum",
            "held",
            least(1).node(0, 1, "small").node(0, 2, "small").removal(700, 1).end(900),
        ),
        (
            "MM-02",
            "the_last_that_must_stay",
            "violated",
            least(1).node(0, 1, "small").removal(700, 1).end(900),
        ),
        ("MM-02", "another_pool_has_more", "violated", {
            let story = least(1).pool("big", 0, 3, 4000).node(0, 1, "small").node(0, 9, "big");
            story.removal(700, 1).end(900)
        }),
        ("MM-02", "kept_at_the_minimum", "held", least(1).node(0, 1, "small").end(900)),
        ("MM-02", "lost_just_before", "held", {
            let story = least(1).node(0, 1, "small").node(0, 2, "small");
            story.server_gone(695, 2).removal(700, 1).end(900)
        }),
        (
            "MM-02",
            "nothing_is_empty",
            "unknown",
            least(1).node(0, 1, "small").runs(10, "web-1", "small-1").end(900),
        ),
        ("MM-03", "stays_empty", "held", least(2).end(900)),
        ("MM-03", "filled_for_nobody", "violated", least(2).order(112, "small", 7).end(900)),
        ("MM-03", "filled_as_soon_as_it_ran", "violated", {
            Story::asleep().pool("small", 2, 3, 4000).started(5, 0).order(8, "small", 7).end(900)
        }),
        (
            "MM-03",
            "filled_for_a_pod",
            "unknown",
            least(1).pending(50, "web-1").order(62, "small", 7).end(900),
        ),
        ("MM-03", "filled_for_a_pod_of_another_pool", "violated", {
            let story = least(2).pool("fast", 0, 3, 4000).labelled("disk", "fast");
            let picky = json!({"spec": {"nodeSelector": {"disk": "fast"}}});
            story.pending_as(50, "db-1", picky).order(62, "small", 7).end(900)
        }),
        ("MM-03", "enforced", "unknown", enforced().end(900)),
        ("MM-04", "filled", "held", enforced().order(20, "small", 7).order(20, "small", 8).end(900)),
        ("MM-04", "never_filled", "violated", enforced().end(900)),
        ("MM-04", "not_enforced", "unknown", least(2).end(900)),
        (
            "MM-04",
            "tried_and_refused",
            "held",
            enforced().order_refused(70, "small", 7, 503).killed(80, 0).end(900),
        ),
        ("MM-04", "never_below", "unknown", {
            let story = Story::new().pool("small", 1, 3, 4000).option("enforce_min", "true");
            story.node(0, 1, "small").pending(60, "web-1").order(70, "small", 7).end(900)
        }),
        (
            "MM-04",
            "given_up_after_a_failure",
            "violated",
            enforced().order_refused(70, "small", 7, 503).end(6000),
        ),
        ("MM-05", "left_alone", "held", above().end(1500)),
        ("MM-05", "shrunk", "violated", above().removal(700, 1).end(1500)),
        ("MM-05", "not_above", "unknown", Story::new().node(0, 1, "small").end(1500)),
        ("MM-08", "kept", "held", least(1).server(70, 7, "small").end(2000)),
        ("MM-08", "removed", "violated", least(1).server(70, 7, "small").give_back(1000, 7).end(2000)),
        ("MM-08", "not_made_in_its_time", "unknown", {
            let story = least(1).timer(Timer::CreationTimeout, "15m").pending(100, "web-1");
            story.order_slow(112, "small", 7).give_back(1013, 7).end(2000)
        }),
        ("MM-08", "it_comes", "unknown", least(1).server(70, 7, "small").node(100, 7, "small").end(2000)),
        ("MM-06", "within", "held", limited().order(112, "small", 2).end(300)),
        (
            "MM-06",
            "one_too_many",
            "violated",
            limited().order(112, "small", 2).order(150, "small", 3).end(300),
        ),
        ("MM-06", "a_node_came_just_before", "held", {
            limited().object(110, "Node", "metal", json!({})).order(112, "small", 2).end(300)
        }),
        ("MM-06", "one_never_came", "held", {
            limited().order(112, "small", 2).order(1100, "small", 3).end(1300)
        }),
        ("MM-06", "no_limit", "unknown", Story::new().pending(100, "web-1").order(112, "small", 7).end(300)),
        ("MM-07", "up_to_the_limit", "held", totals("9").order(112, "small", 7).end(300)),
        (
            "MM-07",
            "beyond_it",
            "violated",
            totals("9").order(112, "small", 7).order(125, "small", 8).end(300),
        ),
        ("MM-07", "of_memory", "violated", {
            let story = totals("90").option("memory_total", "0:13");
            story.order(112, "small", 7).order(125, "small", 8).end(300)
        }),
        ("MM-07", "added_by_hand", "held", {
            totals("9").server(110, 1, "small").order(112, "small", 7).end(300)
        }),
        ("MM-07", "no_limit", "unknown", one().pending(100, "web-1").order(112, "small", 7).end(300)),
    ]
}
