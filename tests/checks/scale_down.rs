//! Stories about giving nodes back.

use scaleproof::history::CallEvent;
use scaleproof::terms::{Api, Timer};
use serde_json::json;

use super::Case;
use super::story::Story;

/// A node whose only pod leaves it at 100 s.
fn emptied() -> Story {
    Story::new().node(0, 1, "small").runs(10, "web-1", "small-1").pod_gone(100, "web-1")
}

/// Its server is not taken back at the first attempt.
fn failed_once() -> Story {
    let story = emptied().taint(715, "small-1", "ToBeDeletedByClusterAutoscaler");
    story.give_back_refused(723, 1, 423).untaint(724, "small-1")
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

/// A node of no pool.
fn metal(story: Story, second: u64, number: u64, ready: &str) -> Story {
    let state = json!({"status": {"conditions": [{"type": "Ready", "status": ready}]}});
    story.object(second, "Node", &format!("metal-{number}"), state)
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
        ("SD-01", "gone_as_soon_as_it_came", "violated", {
            Story::new().node(100, 1, "small").removal(400, 1).end(2000)
        }),
        ("SD-01", "kept_after_a_trouble", "violated", {
            let list = |call: &mut CallEvent| call.status = 503;
            emptied().call(500, Api::Cloud, "GET", "/v1/servers", list).end(4000)
        }),
        ("SD-01", "a_removal_that_failed_is_tried_again", "held", failed_once().removal(1100, 1).end(4000)),
        ("SD-01", "a_removal_that_failed_is_given_up", "violated", failed_once().end(4000)),
        ("SD-01", "beside_many_that_belong_to_no_pool", "violated", {
            (1..=10).fold(emptied(), |story, n| metal(story, 0, n, "True")).end(2000)
        }),
        ("SD-01", "most_nodes_are_unready_meanwhile", "unknown", {
            let story = (1..=4).fold(emptied(), |story, n| metal(story, 300, n, "False"));
            (1..=4).fold(story, |story, n| metal(story, 400, n, "True")).end(1300)
        }),
        ("SD-01", "cores_are_limited_but_have_no_minimum", "violated", {
            emptied().option("cores_total", "0:9").end(2000)
        }),
        ("SD-01", "at_its_minimum", "unknown", kept().end(2000)),
        ("SD-01", "history_ends_too_soon", "unknown", emptied().end(800)),
        ("SD-10", "gone_in_time", "held", unready().removal(1330, 1).end(3000)),
        ("SD-10", "never_gone", "violated", unready().end(3000)),
        ("SD-10", "young_and_gone_in_time", "held", {
            // It came at 40 s, and counts as starting until 940 s.
            let story = Story::new().node(40, 1, "small").ready(110, "small-1", false);
            story.timer(Timer::UnreadyTime, "20m").timer(Timer::StartupTime, "15m").removal(2160, 1).end(3000)
        }),
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
        ("SD-13", "the_last_of_two_is_left", "violated", {
            emptied().node(0, 2, "small").removal(715, 2).end(4000)
        }),
        ("SD-13", "may_not_be_empty", "unknown", kept().end(2000)),
        ("FT-18", "gone_in_time", "held", never_ready().removal(2300, 7).end(4000)),
        ("FT-18", "never_gone", "violated", never_ready().end(4000)),
        (
            "FT-18",
            "ready_once_all_was_healed",
            "violated",
            never_ready().ready(3900, "small-7", true).end(4000),
        ),
        ("FT-18", "becomes_ready", "unknown", never_ready().ready(400, "small-7", true).end(4000)),
    ]
    .into_iter()
    .chain(removals())
    .chain(failures())
    .collect()
}

/// What must be so of each removal.
fn failures() -> Vec<Case> {
    let failed = || {
        let story = Story::new().node(0, 1, "small").node(0, 2, "small").runs(10, "web-1", "small-2");
        let story = story.taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
        story.give_back_refused(706, 1, 423).untaint(707, "small-1").pod_gone(708, "web-1")
    };
    vec![
        ("SD-03", "pauses", "held", failed().removal(890, 2).removal(1010, 1).end(2000)),
        ("SD-03", "tried_again_at_once", "violated", failed().removal(715, 1).end(2000)),
        ("SD-03", "tried_again_too_soon", "violated", failed().removal(900, 1).end(2000)),
        ("SD-03", "goes_on_with_another", "violated", failed().removal(800, 2).end(2000)),
        ("SD-03", "goes_on_with_another_pool", "held", {
            failed().pool("big", 0, 3, 8000).node(1, 9, "big").removal(800, 9).end(1500)
        }),
        ("SD-03", "after_a_restart", "unknown", {
            failed().killed(720, 0).started(722, 0).removal(800, 1).end(2000)
        }),
        ("SD-03", "nothing_failed", "unknown", Story::new().node(0, 1, "small").removal(700, 1).end(2000)),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of stories")]
fn removals() -> Vec<Case> {
    let tainted = "ToBeDeletedByClusterAutoscaler";
    let protected = |second| {
        let annotation = json!({"metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}});
        emptied().object(second, "Node", "small-1", annotation)
    };
    let many = |count: u64| {
        let pool = Story::new().pool("small", 0, 20, 4000);
        let nodes = (1..=count).fold(pool, |story, id| story.node(0, id, "small"));
        (1..=count).fold(nodes, |story, id| story.taint(700, &format!("small-{id}"), tainted)).end(900)
    };
    let ordered = || {
        let story = emptied().pending(600, "web-2").order(612, "small", 7).node(650, 7, "small");
        story.runs(660, "web-2", "small-7")
    };
    let moved = || {
        Story::new()
            .node(0, 1, "small")
            .node(0, 2, "small")
            .runs(10, "web-1", "small-1")
            .taint(694, "small-1", "ToBeDeletedByClusterAutoscaler")
            .evict(700, "web-1", 201)
    };
    let drained = || {
        let story = Story::new().node(0, 1, "small").node(0, 2, "small").node(0, 3, "small");
        story
            .runs(10, "web-1", "small-1")
            .runs(10, "web-2", "small-2")
            .runs(10, "web-3", "small-3")
            .taint(690, "small-1", tainted)
    };
    let agent = json!({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "agent", "controller": true}]}});
    let resident =
        || emptied().runs_as(10, "agent-1", "small-1", agent.clone()).taint(710, "small-1", tainted);
    vec![
        ("SD-02", "after_the_delay", "held", ordered().removal(1230, 1).end(2000)),
        ("SD-02", "too_soon", "violated", ordered().removal(720, 1).end(2000)),
        ("SD-02", "decided_before_the_order", "held", {
            let story = emptied().taint(705, "small-1", tainted).pending(700, "web-2").order(710, "small", 7);
            story.give_back(713, 1).node(750, 7, "small").runs(760, "web-2", "small-7").end(2000)
        }),
        ("SD-02", "at_the_last_moment", "violated", ordered().removal(1195, 1).end(2000)),
        // The loop that ordered had begun six seconds before.
        ("SD-02", "as_long_after_its_loop_began", "held", ordered().removal(1207, 1).end(2000)),
        (
            "SD-02",
            "forgotten_by_a_restart",
            "unknown",
            ordered().killed(700, 0).started(701, 0).removal(800, 1).end(2000),
        ),
        ("SD-02", "nothing_was_ordered", "unknown", emptied().removal(715, 1).end(2000)),
        ("SD-04", "one_after_the_other", "held", {
            let story = drained().evict(700, "web-1", 201).pod_gone(702, "web-1").give_back(710, 1);
            story
                .taint(730, "small-2", tainted)
                .evict(740, "web-2", 201)
                .pod_gone(742, "web-2")
                .give_back(750, 2)
                .end(2000)
        }),
        ("SD-04", "both_at_once", "violated", {
            let story =
                drained().evict(700, "web-1", 201).taint(702, "small-2", tainted).evict(705, "web-2", 201);
            story.pod_gone(706, "web-1").pod_gone(707, "web-2").give_back(720, 1).give_back(725, 2).end(2000)
        }),
        ("SD-04", "given_up_in_between", "held", {
            let tried = |story: Story, second: u64, node: &str, pod: &str| {
                let story = story.taint(second - 6, node, tainted).evict(second, pod, 429);
                story.untaint(second + 10, node)
            };
            let story = tried(tried(loaded(), 700, "small-1", "web-1"), 800, "small-2", "web-3");
            tried(story, 900, "small-1", "web-1").end(2000)
        }),
        ("SD-04", "given_up_and_taken_up_again", "held", {
            let story = drained().evict(700, "web-1", 429).untaint(702, "small-1");
            let story = story.taint(790, "small-2", tainted).evict(800, "web-2", 201);
            let story = story.pod_gone(802, "web-2").give_back(810, 2).taint(1190, "small-1", tainted);
            story.evict(1200, "web-1", 201).pod_gone(1203, "web-1").give_back(1210, 1).end(2000)
        }),
        ("SD-04", "beside_one_with_daemons_only", "held", {
            let mut agent = agent.clone();
            agent["metadata"]["annotations"] =
                json!({"cluster-autoscaler.kubernetes.io/enable-ds-eviction": "true"});
            let story = drained().runs_as(10, "agent-1", "small-2", agent).pod_gone(600, "web-2");
            let story = story.evict(700, "web-1", 201).taint(702, "small-2", tainted);
            story
                .evict(708, "agent-1", 201)
                .give_back(710, 2)
                .pod_gone(711, "web-1")
                .give_back(720, 1)
                .end(2000)
        }),
        ("SD-04", "nothing_to_drain", "unknown", emptied().removal(715, 1).end(2000)),
        ("SD-05", "ten", "held", many(10)),
        ("SD-05", "eleven", "violated", many(11)),
        ("SD-05", "more_than_asked_for", "violated", {
            let mut story = many(5);
            story.header.subject.command.push("--max-scale-down-parallelism=4".into());
            story
        }),
        ("SD-05", "another_when_one_is_given_back", "held", {
            let nodes =
                (1..=11).fold(Story::new().pool("small", 0, 20, 4000), |s, id| s.node(0, id, "small"));
            let ten = (1..=10).fold(nodes, |story, id| story.taint(700, &format!("small-{id}"), tainted));
            ten.give_back(710, 1).taint(712, "small-11", tainted).end(900)
        }),
        ("SD-05", "none", "unknown", Story::new().node(0, 1, "small").end(900)),
        ("SD-06", "stays", "held", loaded().end(2000)),
        ("SD-06", "goes", "violated", loaded().removal(900, 1).end(2000)),
        ("SD-06", "its_pods_take_their_time_to_end", "held", {
            let told = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:01:40Z"}});
            let story = loaded().object(100, "Pod", "default/web-1", told.clone());
            story.object(100, "Pod", "default/web-2", told).removal(900, 1).end(2000)
        }),
        ("SD-06", "hardly_used", "unknown", emptied().removal(715, 1).end(2000)),
        (
            "SD-07",
            "runs_elsewhere",
            "held",
            moved().pod_gone(705, "web-1").runs(706, "web-2", "small-2").end(1000),
        ),
        (
            "SD-07",
            "finds_no_room",
            "violated",
            moved().pod_gone(705, "web-1").pending(706, "web-2").end(2000),
        ),
        ("SD-07", "others_took_the_room", "unknown", {
            let other = json!({"metadata": {"ownerReferences": [{"kind": "Job", "name": "batch", "controller": true}]}});
            let story = moved().pod_gone(705, "web-1").runs_as(703, "batch-1", "small-2", other);
            story.pending(706, "web-2").end(2000)
        }),
        ("SD-07", "others_found_no_room_either", "violated", {
            let huge = json!({
                "metadata": {"ownerReferences": [{"kind": "Job", "name": "batch", "controller": true}]},
                "spec": {"containers": [{"resources": {"requests": {"cpu": "1000"}}}]},
            });
            let story = moved().pod_gone(705, "web-1").pending_as(703, "batch-1", huge);
            story.pending(706, "web-2").end(2000)
        }),
        ("SD-08", "stays", "held", protected(20).end(2000)),
        ("SD-08", "goes", "violated", protected(20).removal(715, 1).end(2000)),
        ("SD-08", "annotated_at_the_last_moment", "unknown", protected(714).removal(715, 1).end(2000)),
        ("SD-09", "stays_small", "held", emptied().removal(715, 1).end(3000)),
        (
            "SD-09",
            "bought_again",
            "violated",
            emptied().removal(715, 1).pending(740, "web-2").order(752, "small", 7).end(3000),
        ),
        ("SD-09", "a_server_was_lost", "unknown", {
            let story = emptied().node(0, 2, "small").runs(10, "web-3", "small-2").removal(715, 1);
            story.server_gone(735, 2).pending(740, "web-2").order(752, "small", 7).end(3000)
        }),
        ("SD-09", "only_time_was_passed", "violated", {
            let mut story = emptied().removal(715, 1).step(735, "wait 20m").pending(740, "web-2");
            story.header.plan = json!({"steps": [{"act": {"wait": "20m"}}]});
            story.order(752, "small", 7).end(3000)
        }),
        ("SD-09", "the_workload_grew", "unknown", {
            let story = emptied().removal(715, 1).step(735, "scale web to 2").pending(740, "web-2");
            story.order(752, "small", 7).end(3000)
        }),
        ("SD-11", "left_to_others", "held", emptied().removal(715, 1).end(2000)),
        ("SD-11", "deleted", "violated", {
            let api = Api::Kubernetes;
            emptied().removal(715, 1).call(724, api, "DELETE", "/api/v1/nodes/small-1", |_| {}).end(2000)
        }),
        ("SD-11", "nothing_goes", "unknown", Story::new().node(0, 1, "small").end(900)),
        ("SD-12", "left_alone", "held", resident().give_back(720, 1).end(2000)),
        ("SD-12", "evicted", "violated", resident().evict(715, "agent-1", 201).give_back(720, 1).end(2000)),
        (
            "SD-12",
            "kept_by_it",
            "violated",
            emptied().runs_as(10, "agent-1", "small-1", agent.clone()).end(2000),
        ),
        ("SD-12", "kept_by_one_that_came_later", "violated", {
            Story::new().node(0, 1, "small").runs_as(10, "agent-1", "small-1", agent.clone()).end(2000)
        }),
        ("SD-12", "nothing_resident", "unknown", emptied().removal(715, 1).end(2000)),
    ]
}
