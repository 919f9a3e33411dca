//! Stories about buying nodes.

use scaleproof::history::FaultChange;
use serde_json::json;

use super::Case;
use super::story::Story;

#[expect(clippy::too_many_lines, reason = "a table of stories")]
pub(crate) fn cases() -> Vec<Case> {
    let idle = || Story::new().end(900);
    let with_web = || Story::new().pending(100, "web-1");
    let huge = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "1000"}}}]}});
    let picky = json!({"spec": {"nodeSelector": {"disk": "fast"}}});
    let cheap = json!({"spec": {"priority": -100}});
    let nominated = json!({"status": {"nominatedNodeName": "small-1"}});
    let no_longer = || {
        let story = Story::new().pending_as(100, "vip-1", nominated.clone());
        story.object(300, "Pod", "default/vip-1", json!({"status": {"nominatedNodeName": null}}))
    };
    let delayed =
        json!({"metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/pod-scale-up-delay": "2m"}}});
    let too_many = {
        let young = |story: Story, name: &str| story.pending_as(100, name, delayed.clone());
        let story = ["web-2", "web-3", "web-4"].into_iter().fold(with_web(), young);
        story.order(112, "small", 7).order(113, "small", 8).end(300)
    };
    let tiny = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "500m"}}}]}});
    let two_pools = || Story::new().pool("fast", 0, 3, 4000).labelled("disk", "fast");
    let gpu = || Story::new().pool("gpu", 0, 3, 4000).tainted("gpu");
    let ranked = || {
        let story = Story::new()
            .option("expander", "priority")
            .pool("low", 0, 3, 4000)
            .but(|pool| pool.priority = Some(10));
        story.pool("high", 0, 3, 4000).but(|pool| pool.priority = Some(50))
    };
    let lying = |kind: &str| {
        let lies = FaultChange::Injected(format!("hurt lists: cloud(kind: {kind})"));
        with_web().fault(105, "lists", lies)
    };
    let misled = |kind: &str| lying(kind).order(112, "small", 7).order(123, "small", 8);
    let sized = || Story::new().pool("tall", 0, 3, 16000);
    let cordoned = || {
        let story = Story::new().node(0, 1, "small");
        story.object(90, "Node", "small-1", json!({"spec": {"unschedulable": true}}))
    };
    let mut cases = vec![
        ("SU-01", "ordered_in_time", "held", with_web().order(112, "small", 7).end(300)),
        ("SU-01", "never_ordered", "violated", with_web().end(300)),
        ("SU-01", "ordered_too_late", "violated", with_web().order(160, "small", 7).end(300)),
        ("SU-01", "nobody_waits", "unknown", idle()),
        (
            "SU-01",
            "pool_is_full",
            "unknown",
            Story::new().pool("small", 0, 0, 4000).pending(100, "web-1").end(300),
        ),
        ("SU-01", "subject_was_killed", "unknown", with_web().killed(110, 0).end(300)),
        ("SU-01", "history_ends_too_soon", "unknown", with_web().end(120)),
        ("SU-01", "refused_before", "unknown", {
            let story = Story::new().order_refused(50, "small", 6, 503);
            story.pending(100, "web-1").end(300)
        }),
        ("SU-01", "had_room_at_first", "unknown", {
            Story::new().node(0, 1, "small").pending(100, "web-1").gone(130, "Node", "small-1").end(300)
        }),
        ("SU-01", "most_nodes_are_unready", "unknown", {
            let unready = || json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
            let story = (1..=4)
                .fold(Story::new(), |story, n| story.object(0, "Node", &format!("fixed-{n}"), unready()));
            story.pending(100, "web-1").end(300)
        }),
        ("SU-01", "another_pool_was_ordered_from", "violated", {
            let story = two_pools().pending_as(100, "db-1", picky.clone()).pending(100, "web-1");
            story.order(112, "small", 7).node(150, 7, "small").runs(151, "web-1", "small-7").end(600)
        }),
        ("SU-01", "each_pool_was_ordered_from", "held", {
            let story = two_pools().pending_as(100, "db-1", picky.clone()).pending(100, "web-1");
            let story = story.order(112, "small", 7).order(123, "fast", 8).node(150, 7, "small");
            let story = story.runs(151, "web-1", "small-7").node(160, 8, "fast");
            story.runs(161, "db-1", "fast-8").end(600)
        }),
        ("SU-01", "it_waits_on_beside_what_came", "violated", {
            let story = with_web().pending(100, "web-2").pending(100, "web-3");
            let story = story.order(112, "small", 7).node(150, 7, "small");
            story.runs(151, "web-1", "small-7").runs(151, "web-2", "small-7").end(600)
        }),
        ("SU-01", "the_next_comes_in_time", "held", {
            let story = with_web().pending(100, "web-2").pending(100, "web-3");
            let story = story.order(112, "small", 7).node(150, 7, "small");
            let story = story.runs(151, "web-1", "small-7").runs(151, "web-2", "small-7");
            story.order(165, "small", 8).node(190, 8, "small").runs(191, "web-3", "small-8").end(600)
        }),
        ("SU-01", "too_little_is_on_its_way", "violated", {
            let web = (1..=5).fold(Story::new(), |story, n| story.pending(100, &format!("web-{n}")));
            web.order_slow(112, "small", 7).server(120, 7, "small").end(900)
        }),
        ("SU-01", "enough_is_on_its_way", "held", {
            let story = with_web().pending(100, "web-2");
            story.order_slow(112, "small", 7).server(120, 7, "small").end(900)
        }),
        ("SU-01", "a_node_without_an_id_is_on_its_way", "held", {
            let story = with_web().order(112, "small", 7);
            story.node_as(150, 7, "small", json!({"spec": {"providerID": null}})).end(900)
        }),
        ("SU-01", "what_is_overdue_does_not_count", "violated", {
            let story = with_web().order_slow(112, "small", 7).server(120, 7, "small").end(4000);
            story.pool("tall", 0, 3, 16000)
        }),
        ("SU-01", "an_old_unready_node_is_no_excuse", "violated", {
            let story = two_pools().server(0, 8, "fast").node_unready(0, 8, "fast");
            story.pending(2000, "web-1").end(2400)
        }),
        ("SU-01", "what_never_came_is_no_excuse_for_ever", "violated", {
            let story = Story::new().pending(90, "web-0").order(100, "small", 7).pod_gone(200, "web-0");
            story.pending(5000, "web-1").end(6000)
        }),
        ("SU-01", "it_is_nominated_meanwhile", "unknown", {
            Story::new().pending(100, "vip-1").object(105, "Pod", "default/vip-1", nominated.clone()).end(900)
        }),
        ("SU-01", "it_is_nominated_no_longer", "violated", no_longer().end(900)),
        ("SU-01", "far_from_the_limit_of_nodes", "violated", {
            with_web().option("max_nodes_total", "10").end(300)
        }),
        ("SU-01", "at_the_limit_of_nodes", "unknown", {
            let story = with_web().option("max_nodes_total", "1").node(0, 1, "small");
            story.runs(10, "web-8", "small-1").runs(10, "web-9", "small-1").end(300)
        }),
        ("SU-01", "most_nodes_of_its_pool_are_unready", "unknown", {
            let story = (1..=4).fold(Story::new().pool("small", 0, 9, 4000), |story, id| {
                story.server(0, id, "small").node_unready(0, id, "small")
            });
            let others = (1..=12).fold(story, |story, n| {
                let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
                story.object(0, "Node", &format!("metal-{n}"), ready)
            });
            others.pending(2000, "web-1").end(2400)
        }),
        ("SU-01", "daemons_take_the_room_there_is", "violated", {
            let agent = json!({
                "metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "agent", "controller": true}]},
                "spec": {"containers": [{"resources": {"requests": {"cpu": "3"}}}]},
            });
            let story = Story::new().pool("big", 0, 3, 16000).node(0, 1, "small");
            story.runs_as(10, "agent-1", "small-1", agent).pending(100, "web-1").end(300)
        }),
        ("SU-02", "one_for_one", "held", with_web().order(112, "small", 7).end(300)),
        (
            "SU-02",
            "in_place_of_one_that_goes",
            "held",
            with_web().order(112, "small", 7).order(1011, "small", 8).give_back(1012, 7).end(1200),
        ),
        ("SU-02", "two_for_three", "held", {
            let three = with_web().pending(100, "web-2").pending(100, "web-3");
            three.order(112, "small", 7).order(112, "small", 8).end(300)
        }),
        (
            "SU-02",
            "second_for_the_same_pod",
            "violated",
            with_web().order(112, "small", 7).order(123, "small", 8).end(300),
        ),
        ("SU-02", "second_after_a_restart", "violated", {
            let story = with_web().order(112, "small", 7).killed(120, 0).started(121, 0);
            story.order(150, "small", 8).end(300)
        }),
        ("SU-02", "what_comes_is_of_another_pool", "held", {
            let story = with_web().pool("big", 0, 3, 16000);
            story.order(112, "big", 7).order(123, "small", 8).end(300)
        }),
        ("SU-02", "lists_were_torn", "unknown", misled("torn_list").end(300)),
        ("SU-02", "a_fault_that_is_only_called_so", "violated", {
            let other = FaultChange::Injected("hurt unseen: slow_kubelet(stage: network, takes: 2h)".into());
            let story = with_web().fault(105, "unseen", other);
            story.order(112, "small", 7).order(123, "small", 8).end(300)
        }),
        ("SU-02", "lists_lagged_behind", "unknown", misled("unseen").end(300)),
        ("FT-20", "lists_were_torn", "violated", misled("torn_list").end(300)),
        ("FT-20", "lists_lagged_behind", "violated", misled("unseen").end(300)),
        ("FT-20", "no_more_is_ordered", "held", {
            lying("unseen")
                .order(112, "small", 7)
                .node(180, 7, "small")
                .runs(181, "web-1", "small-7")
                .end(300)
        }),
        ("FT-20", "nothing_is_ordered", "violated", lying("torn_list").end(400)),
        ("FT-20", "above_the_maximum", "violated", {
            let story = Story::new().pool("small", 0, 1, 4000).node(0, 1, "small").fault(
                105,
                "torn",
                FaultChange::Injected("hurt torn: cloud(kind: torn_list)".into()),
            );
            story.pending(110, "web-1").order(122, "small", 7).end(300)
        }),
        ("FT-20", "lists_were_true", "unknown", with_web().order(112, "small", 7).end(300)),
        ("SU-02", "nothing_was_ordered", "unknown", with_web().end(300)),
        ("SU-03", "left_alone", "held", Story::new().pending_as(100, "huge", huge.clone()).end(900)),
        ("SU-03", "bought_for_nothing", "violated", {
            Story::new().pending_as(100, "huge", huge.clone()).order(112, "small", 7).end(900)
        }),
        ("SU-03", "another_pod_was_meant", "held", {
            let story = Story::new().pending_as(100, "huge", huge).pending(100, "web-1");
            story.order(112, "small", 7).end(900)
        }),
        ("SU-03", "all_pods_fit", "unknown", with_web().order(112, "small", 7).end(900)),
        (
            "SU-04",
            "the_right_pool",
            "held",
            two_pools().pending_as(100, "web-1", picky.clone()).order(112, "fast", 7).end(300),
        ),
        (
            "SU-04",
            "the_wrong_pool",
            "violated",
            two_pools().pending_as(100, "web-1", picky.clone()).order(112, "small", 7).end(300),
        ),
        (
            "SU-04",
            "another_value",
            "violated",
            two_pools()
                .pool("slow", 0, 3, 4000)
                .labelled("disk", "slow")
                .pending_as(100, "web-1", picky.clone())
                .order(112, "slow", 7)
                .end(300),
        ),
        (
            "SU-04",
            "no_selector",
            "unknown",
            two_pools().pending(100, "web-1").order(112, "small", 7).end(300),
        ),
        ("SU-04", "bought_for_another_pod", "unknown", {
            let story = two_pools().pending_as(100, "db-1", picky.clone()).pending(100, "web-1");
            story.order(112, "small", 7).pod_gone(120, "db-1").end(300)
        }),
        ("SU-05", "left_alone", "held", Story::new().pending_as(100, "batch-1", cheap.clone()).end(900)),
        (
            "SU-05",
            "bought_for_it",
            "violated",
            Story::new().pending_as(100, "batch-1", cheap).order(112, "small", 7).end(900),
        ),
        ("SU-05", "ordinary_priority", "unknown", with_web().order(112, "small", 7).end(900)),
        ("SU-06", "left_alone", "held", Story::new().pending_as(100, "vip-1", nominated.clone()).end(900)),
        (
            "SU-06",
            "bought_for_it",
            "violated",
            Story::new().pending_as(100, "vip-1", nominated.clone()).order(112, "small", 7).end(900),
        ),
        ("SU-06", "bought_when_it_was_so_no_longer", "held", no_longer().order(312, "small", 7).end(900)),
        ("SU-06", "bought_when_it_had_come_to_be_so", "violated", {
            let story = Story::new().pending(100, "vip-1");
            story.object(200, "Pod", "default/vip-1", nominated.clone()).order(312, "small", 7).end(900)
        }),
        ("SU-06", "nobody_is_nominated", "unknown", with_web().order(112, "small", 7).end(900)),
        (
            "SU-07",
            "old_enough",
            "held",
            Story::new().pending_as(100, "web-1", delayed.clone()).order(225, "small", 7).end(300),
        ),
        (
            "SU-07",
            "too_young",
            "violated",
            Story::new().pending_as(100, "web-1", delayed.clone()).order(130, "small", 7).end(300),
        ),
        ("SU-07", "another_has_no_delay", "held", {
            with_web().pending_as(100, "web-2", delayed).order(112, "small", 7).end(300)
        }),
        ("SU-07", "one_more_for_those_that_are_too_young", "violated", too_many),
        ("SU-07", "no_delay", "unknown", with_web().order(112, "small", 7).end(300)),
        ("SU-08", "the_highest", "held", ranked().pending(100, "web-1").order(112, "high", 7).end(300)),
        ("SU-08", "a_lower_one", "violated", ranked().pending(100, "web-1").order(112, "low", 7).end(300)),
        ("SU-08", "all_are_the_same", "unknown", {
            let story = Story::new().option("expander", "priority").pool("other", 0, 3, 4000);
            story.pending(100, "web-1").order(112, "small", 7).end(300)
        }),
        ("SU-08", "the_highest_is_full", "unknown", {
            ranked()
                .but(|pool| pool.max = 0)
                .pool("small", 0, 0, 4000)
                .pending(100, "web-1")
                .order(112, "low", 7)
                .end(300)
        }),
        (
            "SU-10",
            "the_smaller",
            "held",
            sized().pending_as(100, "web-1", tiny.clone()).order(112, "small", 7).end(300),
        ),
        (
            "SU-10",
            "the_bigger",
            "violated",
            sized().pending_as(100, "web-1", tiny.clone()).order(112, "tall", 7).end(300),
        ),
        ("SU-10", "all_are_the_same", "unknown", {
            let story = Story::new().pool("other", 0, 3, 4000).pending_as(100, "web-1", tiny.clone());
            story.order(112, "small", 7).end(300)
        }),
        (
            "SU-10",
            "one_pool",
            "unknown",
            Story::new().pending_as(100, "web-1", tiny).order(112, "small", 7).end(300),
        ),
        ("SU-11", "the_untainted_pool", "held", gpu().pending(100, "web-1").order(112, "small", 7).end(300)),
        ("SU-11", "the_tainted_pool", "violated", gpu().pending(100, "web-1").order(112, "gpu", 7).end(300)),
        ("SU-11", "no_taints", "unknown", with_web().order(112, "small", 7).end(300)),
        (
            "SU-15",
            "another_is_bought",
            "held",
            cordoned().pending(100, "web-1").order(112, "small", 7).end(300),
        ),
        ("SU-15", "nothing_is_bought", "violated", cordoned().pending(100, "web-1").end(300)),
        ("SU-15", "nothing_has_room", "unknown", {
            let story = cordoned().runs(10, "web-8", "small-1").runs(10, "web-9", "small-1");
            story.pending(100, "web-1").order(112, "small", 7).end(300)
        }),
        ("SU-15", "cordoned_while_it_waits", "violated", {
            let story = Story::new().node(0, 1, "small").pending(70, "web-1");
            story.object(90, "Node", "small-1", json!({"spec": {"unschedulable": true}})).end(900)
        }),
        ("SU-15", "nothing_is_cordoned", "unknown", with_web().order(112, "small", 7).end(300)),
    ];
    cases.extend(of_maps_daemons_and_taints());
    cases
}

fn of_maps_daemons_and_taints() -> Vec<Case> {
    let unmapped = || Story::new().option("expander", "priority").pending(100, "web-1");
    let mapped = || {
        let data = json!({"data": {"priorities": "10: [.*]"}});
        let story = Story::new().option("expander", "priority");
        let map = "kube-system/cluster-autoscaler-priority-expander";
        story.object(50, "ConfigMap", map, data).pending(100, "web-1")
    };
    let agent = |cpu: &str, spec: serde_json::Value| {
        let mut template = json!({"containers": [{"resources": {"requests": {"cpu": cpu}}}]});
        template.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        let set = json!({"spec": {"template": {"spec": template}}});
        Story::new().object(0, "DaemonSet", "default/agent", set).pending(100, "web-1")
    };
    let starting = || {
        let taint = json!({"spec": {"taints": [{"key": "startup-taint.cluster-autoscaler.kubernetes.io/agent", "effect": "NoSchedule"}]}});
        let story = Story::new().pending(100, "web-1").order(112, "small", 7);
        story.node_as(150, 7, "small", taint)
    };
    let broken = || {
        let story = Story::new().node(0, 1, "small");
        let key = "status-taint.cluster-autoscaler.kubernetes.io/broken";
        story.taint(90, "small-1", key).pending(100, "web-1")
    };
    vec![
        ("SU-09", "ordered_all_the_same", "held", unmapped().order(112, "small", 7).end(900)),
        ("SU-09", "never_ordered", "violated", unmapped().end(900)),
        ("SU-09", "the_map_goes_while_it_waits", "violated", {
            mapped().gone(200, "ConfigMap", "kube-system/cluster-autoscaler-priority-expander").end(900)
        }),
        ("SU-09", "the_map_is_there", "unknown", mapped().order(112, "small", 7).end(900)),
        ("SU-12", "not_ordered", "held", agent("3", json!({})).end(900)),
        ("SU-12", "ordered", "violated", agent("3", json!({})).order(112, "small", 7).end(900)),
        ("SU-12", "fits_beside_them", "unknown", agent("1", json!({})).order(112, "small", 7).end(900)),
        (
            "SU-12",
            "daemons_elsewhere",
            "unknown",
            agent("3", json!({"nodeSelector": {"disk": "fast"}})).order(112, "small", 7).end(900),
        ),
        (
            "SU-14",
            "waited_for",
            "held",
            starting().untaint(400, "small-7").runs(401, "web-1", "small-7").end(900),
        ),
        ("SU-14", "another_one", "violated", starting().order(300, "small", 8).end(900)),
        ("SU-14", "who_waits_is_another", "unknown", {
            let picky = json!({"spec": {"nodeSelector": {"disk": "fast"}}});
            starting().pending_as(100, "db-1", picky).pod_gone(155, "web-1").end(900)
        }),
        ("SU-14", "no_room", "held", broken().order(112, "small", 7).end(900)),
        ("SU-14", "taken_for_room", "violated", broken().end(900)),
        ("SU-14", "no_room_beside_what_runs_there", "unknown", {
            let story = broken().runs(10, "web-8", "small-1").runs(10, "web-9", "small-1");
            story.order(112, "small", 7).node(150, 7, "small").runs(151, "web-1", "small-7").end(900)
        }),
        (
            "SU-14",
            "no_taint",
            "unknown",
            Story::new().pending(100, "web-1").order(112, "small", 7).node(150, 7, "small").end(900),
        ),
    ]
}
