//! Stories that nothing is left lying about.

use scaleproof::history::Phase;
use scaleproof::terms::{Api, Timer};
use serde_json::json;

use super::Case;
use super::story::Story;

#[expect(clippy::too_many_lines, reason = "a table of stories")]
pub(crate) fn cases() -> Vec<Case> {
    let bought = || Story::new().pending(100, "web-1").order(112, "small", 7);
    let slow = || Story::new().pending(100, "web-1").order_slow(112, "small", 7);
    let never_runs = || {
        let story = slow().server_as(130, 7, "small", "off");
        story.call(131, Api::Cloud, "POST", "/v1/servers/7/actions/poweron", |call| call.status = 201)
    };
    let marked = |story: Story| {
        let taint = json!({"key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"});
        story.object(600, "Node", "small-1", json!({"spec": {"taints": [taint]}}))
    };
    let full = |second, story: Story| story.runs(second, "web-1", "small-1").runs(second, "web-2", "small-1");
    let candidate = || marked(Story::new().node(0, 1, "small"));
    let needed = || full(700, candidate());
    let asks = |every: u64| {
        let calls = (70 / every..3700 / every).map(|count| count * every);
        calls
            .fold(Story::new(), |story, second| story.call(second, Api::Cloud, "GET", "/v1/servers", |_| {}))
            .end(3800)
    };
    of_ends_and_events()
        .into_iter()
        .chain(vec![
            ("HY-01", "used", "held", bought().node(150, 7, "small").runs(160, "web-1", "small-7").end(9000)),
            ("HY-01", "given_back", "held", {
                let story =
                    bought().node(150, 7, "small").runs(160, "web-1", "small-7").pod_gone(900, "web-1");
                story.removal(1510, 7).end(9000)
            }),
            ("HY-01", "left", "violated", bought().pod_gone(130, "web-1").end(9000)),
            ("HY-01", "left_while_another_pool_is_sold_out", "violated", {
                let story = bought().pod_gone(130, "web-1").pool("big", 0, 3, 8000);
                let refused =
                    |story: Story, time: u64| story.order_refused(time * 400, "big", 20 + time, 412);
                (1..=21).fold(story, refused).end(9000)
            }),
            (
                "HY-01",
                "left_empty",
                "violated",
                bought().pod_gone(130, "web-1").node(150, 7, "small").end(9000),
            ),
            ("HY-01", "left_when_the_subject_was_ended", "violated", {
                bought().pod_gone(130, "web-1").phase(8999, Phase::Account).exited(9000, 0).end(9000)
            }),
            ("HY-01", "ends_too_soon", "unknown", bought().pod_gone(130, "web-1").end(900)),
            ("HY-02", "gone_in_time", "held", bought().give_back(1030, 7).end(2000)),
            (
                "HY-02",
                "comes_after_it_is_gone",
                "held",
                bought().give_back(1030, 7).node(1031, 7, "small").end(2000),
            ),
            ("HY-02", "never_gone", "violated", bought().end(2000)),
            ("HY-02", "left_while_another_pool_is_sold_out", "violated", {
                let story = bought().pool("big", 0, 3, 8000);
                let refused =
                    |story: Story, time: u64| story.order_refused(time * 400, "big", 20 + time, 412);
                (1..=4).fold(story, refused).end(2000)
            }),
            ("HY-02", "refused_and_tried_again", "held", {
                let story = bought().pod_gone(130, "web-1").give_back_refused(1030, 7, 423);
                story.give_back(1070, 7).end(3000)
            }),
            ("HY-02", "refused_and_forgotten", "violated", {
                bought().give_back_refused(1030, 7, 423).end(3000)
            }),
            ("HY-02", "left_by_the_next_process", "violated", {
                bought().killed(300, 0).exited(300, 0).started(305, 0).end(3000)
            }),
            ("HY-02", "gone_too_early", "violated", bought().give_back(600, 7).end(2000)),
            ("HY-02", "comes_when_it_should_be_gone", "violated", bought().node(1500, 7, "small").end(2000)),
            ("HY-02", "never_made", "unknown", slow().give_back(600, 7).end(2000)),
            ("HY-02", "made_at_the_last_moment", "unknown", {
                slow().server_as(400, 7, "small", "running").give_back(412, 7).end(2000)
            }),
            ("HY-02", "it_comes", "unknown", bought().node(150, 7, "small").end(2000)),
            ("HY-03", "gone_in_time", "held", slow().give_back(412, 7).end(2000)),
            ("HY-03", "never_gone", "violated", slow().end(2000)),
            ("HY-03", "tried_again_at_once", "held", {
                slow().give_back(412, 7).order_slow(430, "small", 8).give_back(730, 8).end(2000)
            }),
            ("HY-11", "tried_again_in_its_time", "held", {
                let story = slow().give_back(412, 7).order(720, "small", 8).node(760, 8, "small");
                story.runs(770, "web-1", "small-8").end(2000)
            }),
            ("HY-11", "tried_again_at_once", "violated", {
                slow().give_back(412, 7).order_slow(430, "small", 8).end(2000)
            }),
            ("HY-11", "another_pool_is_tried", "held", {
                let story = slow().pool("big", 0, 3, 8000).give_back(412, 7).order(430, "big", 8);
                story.node(460, 8, "big").runs(470, "web-1", "big-8").end(2000)
            }),
            ("HY-11", "tried_again_by_the_next_process", "unknown", {
                slow().give_back(412, 7).killed(420, 0).started(425, 0).order(440, "small", 8).end(2000)
            }),
            ("HY-11", "failed_before", "unknown", {
                slow().give_back(130, 7).order(150, "small", 8).end(2000)
            }),
            ("HY-03", "made_in_time", "unknown", bought().end(2000)),
            (
                "HY-03",
                "never_runs_though_it_was_switched_on",
                "held",
                never_runs().give_back(412, 7).end(2000),
            ),
            ("HY-03", "waits_to_be_switched_on", "unknown", {
                slow().server_as(372, 7, "small", "off").end(2000)
            }),
            ("HY-03", "failed_before", "unknown", slow().give_back(130, 7).end(2000)),
            (
                "HY-04",
                "kept",
                "held",
                slow()
                    .server_as(372, 7, "small", "running")
                    .node(400, 7, "small")
                    .runs(410, "web-1", "small-7")
                    .end(2000),
            ),
            (
                "HY-04",
                "thrown_away",
                "violated",
                slow().server_as(372, 7, "small", "running").give_back(412, 7).end(2000),
            ),
            (
                "HY-04",
                "thrown_away_as_a_node",
                "violated",
                slow()
                    .server_as(372, 7, "small", "running")
                    .node(400, 7, "small")
                    .give_back(412, 7)
                    .end(2000),
            ),
            (
                "HY-04",
                "thrown_away_before_it_was_switched_on",
                "violated",
                slow().server_as(372, 7, "small", "off").give_back(412, 7).end(2000),
            ),
            (
                "HY-04",
                "never_runs_though_it_was_switched_on",
                "unknown",
                never_runs().give_back(412, 7).end(2000),
            ),
            ("HY-04", "never_registers", "unknown", {
                let story = slow().timer(Timer::CreationTimeout, "15m").server_as(130, 7, "small", "running");
                story.give_back(1030, 7).end(2000)
            }),
            ("HY-04", "never_made", "unknown", slow().give_back(412, 7).end(2000)),
            ("HY-05", "cleared", "held", needed().untaint(715, "small-1").end(1000)),
            ("HY-05", "kept", "violated", needed().end(1000)),
            ("HY-05", "cleared_in_the_end", "held", needed().untaint(745, "small-1").end(1000)),
            ("HY-05", "most_nodes_are_unready", "unknown", {
                let unready = || json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
                let story = (1..=4)
                    .fold(needed(), |story, n| story.object(650, "Node", &format!("fixed-{n}"), unready()));
                story.end(1000)
            }),
            (
                "HY-05",
                "marked_while_needed",
                "unknown",
                marked(full(10, Story::new().node(0, 1, "small"))).end(1000),
            ),
            ("HY-05", "needed_again_after_it_was_not", "violated", {
                let story = marked(full(10, Story::new().node(0, 1, "small")));
                let story = story.pod_gone(700, "web-1").pod_gone(700, "web-2");
                story.runs(800, "web-3", "small-1").runs(800, "web-4", "small-1").end(1200)
            }),
            ("HY-05", "needed_just_before_it_was_marked", "violated", {
                marked(full(590, Story::new().node(0, 1, "small"))).end(1000)
            }),
            ("HY-05", "kept_after_an_order", "violated", {
                let story = needed().order(710, "small", 7);
                story.node(740, 7, "small").end(1500)
            }),
            ("HY-05", "not_needed", "unknown", candidate().end(1000)),
            ("HY-05", "stands_in_an_order", "unknown", needed().order_slow(650, "small", 7).end(900)),
            (
                "HY-06",
                "fresh",
                "held",
                (10..90).fold(Story::new(), |story, tens| story.status(tens * 10)).end(900),
            ),
            ("HY-06", "stale", "violated", Story::new().status(100).end(900)),
            ("HY-06", "stale_long_after_a_fault", "violated", {
                let story = Story::new().status(100);
                story.call(150, Api::Kubernetes, "GET", "/api/v1/pods", |call| call.status = 503).end(900)
            }),
            ("HY-06", "never", "unknown", Story::new().end(900)),
            ("HY-08", "few", "held", asks(60)),
            ("HY-08", "many", "violated", asks(25)),
            ("HY-08", "many_for_many_servers", "held", {
                (1..=51).fold(asks(25), |story, id| story.server(0, id, "small"))
            }),
            ("HY-08", "never_idle", "unknown", Story::new().pending(100, "web-1").end(3800)),
        ])
        .collect()
}

fn of_ends_and_events() -> Vec<Case> {
    let told = |story: Story, second: u64, reason: &str, kind: &str, name: &str| {
        let about = json!({"reason": reason, "involvedObject": {"kind": kind, "name": name}});
        story.object(second, "Event", &format!("default/{reason}-{name}"), about)
    };
    let bought = || {
        let story = told(Story::new(), 1, "Scheduled", "Pod", "another").pending(100, "web-1");
        story.order(112, "small", 7).node(150, 7, "small").runs(160, "web-1", "small-7")
    };
    let said = || {
        let story = told(bought(), 112, "ScaledUpGroup", "ConfigMap", "cluster-autoscaler-status");
        told(story, 112, "TriggeredScaleUp", "Pod", "web-1")
    };
    let emptied = || said().pod_gone(300, "web-1").removal(1000, 7);
    let giant = || {
        let asks = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "100"}}}]}});
        told(Story::new(), 1, "Scheduled", "Pod", "another").pending_as(100, "giant", asks)
    };
    let ended = |story: Story| story.killed(703, 0).exited(703, 0).started(705, 0);
    let draining =
        || Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
    let buying = || ended(Story::new().pending(690, "web-1").order(700, "small", 7));
    vec![
        ("HY-07", "told_of_an_order", "held", said().end(900)),
        ("HY-07", "not_told_of_an_order", "violated", bought().end(900)),
        ("HY-07", "not_told_of_an_order_thrown_away", "unknown", {
            let story = told(Story::new(), 1, "Scheduled", "Pod", "another").pending(100, "web-1");
            story.order(112, "small", 7).give_back(412, 7).end(900)
        }),
        (
            "HY-07",
            "told_of_a_removal",
            "held",
            told(emptied(), 1001, "ScaleDown", "Node", "small-7").end(1900),
        ),
        ("HY-07", "not_told_of_a_removal", "violated", emptied().end(1900)),
        (
            "HY-07",
            "told_of_a_giant",
            "held",
            told(giant(), 112, "NotTriggerScaleUp", "Pod", "giant").end(900),
        ),
        ("HY-07", "not_told_of_a_giant", "violated", giant().end(900)),
        ("HY-07", "not_told_of_a_giant_after_an_order", "violated", {
            let story = giant().pending(95, "web-1").order(105, "small", 7).node(150, 7, "small");
            let story = told(story, 106, "ScaledUpGroup", "ConfigMap", "cluster-autoscaler-status");
            told(story.runs(160, "web-1", "small-7"), 106, "TriggeredScaleUp", "Pod", "web-1").end(900)
        }),
        ("HY-07", "told_of_another_pools_pod", "violated", {
            let big = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "6"}}}]}});
            let story = told(Story::new(), 1, "Scheduled", "Pod", "another").pool("big", 0, 3, 8000);
            let story = story.pending_as(95, "other", big).pending(100, "web-1").order(112, "small", 7);
            let story = told(story, 112, "ScaledUpGroup", "ConfigMap", "cluster-autoscaler-status");
            told(story, 100, "TriggeredScaleUp", "Pod", "other").end(900)
        }),
        ("HY-07", "told_of_a_pod_elsewhere", "violated", {
            let story = told(bought(), 112, "ScaledUpGroup", "ConfigMap", "cluster-autoscaler-status");
            let pod = json!({"kind": "Pod", "name": "web-1", "namespace": "elsewhere"});
            let about = json!({"reason": "TriggeredScaleUp", "involvedObject": pod});
            story.object(112, "Event", "elsewhere/event-1", about).end(900)
        }),
        (
            "HY-07",
            "nothing_was_recorded",
            "unknown",
            Story::new().pending(100, "web-1").order(112, "small", 7).node(150, 7, "small").end(900),
        ),
        ("HY-10", "taint_cleared", "held", ended(draining()).untaint(730, "small-1").end(1500)),
        ("HY-10", "taint_left", "violated", ended(draining()).end(2000)),
        (
            "HY-10",
            "server_used",
            "held",
            buying().node(740, 7, "small").runs(750, "web-1", "small-7").end(2000),
        ),
        ("HY-10", "server_left", "violated", buying().end(2900)),
        ("HY-10", "server_left_though_more_is_ordered", "violated", {
            let story = buying().pending(990, "web-2").order(1000, "small", 8).node(1030, 8, "small");
            story.runs(1040, "web-2", "small-8").end(3900)
        }),
        ("HY-10", "two_are_told_to_end_at_once", "violated", {
            let lease = |story: Story, second: u64, holder: &str| {
                let holder = json!({"spec": {"holderIdentity": holder}});
                story.object(second, "Lease", "kube-system/cluster-autoscaler", holder)
            };
            let two = lease(Story::asleep().started(0, 0).started(0, 1), 5, "ca-0").node(0, 1, "small");
            let story = two.taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
            let story = story.killed(703, 0).killed(703, 1).exited(704, 0).started(706, 0);
            lease(lease(story, 705, ""), 710, "ca-0").end(2000)
        }),
        ("HY-10", "its_node_has_no_id", "unknown", {
            buying().node_as(740, 7, "small", json!({"spec": {"providerID": null}})).end(2900)
        }),
        (
            "HY-10",
            "killed",
            "unknown",
            draining().killed(703, 0).started(705, 0).untaint(730, "small-1").end(2000),
        ),
    ]
}
