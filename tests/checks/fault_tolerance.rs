//! Stories about the faults of others.

use scaleproof::terms::Api;
use serde_json::json;

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
    .into_iter()
    .chain(of_the_cloud())
    .chain(of_nodes())
    .chain(of_the_subject())
    .collect()
}

fn of_the_cloud() -> Vec<Case> {
    let limited = |count: u64| {
        let ask = |story: Story, index: u64| {
            story.call(100 + index, Api::Cloud, "GET", "/v1/servers", |call| call.status = 429)
        };
        (0..count).fold(Story::new(), ask).end(900)
    };
    let list = |story: Story, second: u64, status: u16| {
        story.call(second, Api::Cloud, "GET", "/v1/servers", |call| call.status = status)
    };
    let refused = || {
        let story = Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
        story.give_back_refused(708, 1, 423)
    };
    vec![
        ("FT-01", "twenty", "held", limited(20)),
        ("FT-01", "thirty", "violated", limited(30)),
        ("FT-01", "never_limited", "unknown", Story::new().end(900)),
        ("FT-02", "waits", "held", {
            let story = list(list(Story::new().node(0, 1, "small"), 600, 503), 700, 200);
            story.removal(720, 1).end(2000)
        }),
        (
            "FT-02",
            "acts",
            "violated",
            list(list(Story::new().node(0, 1, "small"), 600, 503), 800, 200).removal(700, 1).end(2000),
        ),
        (
            "FT-02",
            "never_failed",
            "unknown",
            list(Story::new().node(0, 1, "small"), 600, 200).removal(700, 1).end(2000),
        ),
        ("FT-16", "undone", "held", refused().untaint(712, "small-1").end(2000)),
        ("FT-16", "tried_again", "held", refused().give_back(740, 1).end(2000)),
        ("FT-16", "left_so", "violated", refused().end(2000)),
        ("FT-16", "never_refused", "unknown", Story::new().node(0, 1, "small").removal(700, 1).end(2000)),
    ]
}

fn of_nodes() -> Vec<Case> {
    let unready = |count: u64| {
        let pool = Story::new().pool("small", 0, 9, 4000);
        let used = |story: Story, id| {
            story.node(0, id, "small").runs(10, &format!("used-{id}"), &format!("small-{id}"))
        };
        let nodes = (1..=6).fold(pool, used);
        let nodes = (1..=count).fold(nodes, |story, id| story.ready(2000, &format!("small-{id}"), false));
        nodes.pending(2050, "web-1")
    };
    let slow = || Story::new().pending(100, "web-1").order(112, "small", 7).node_unready(150, 7, "small");
    let anonymous = || {
        let story = Story::new().pending(100, "web-1").order(112, "small", 7);
        story.node_as(150, 7, "small", json!({"spec": {"providerID": null}})).runs(160, "web-1", "small-7")
    };
    vec![
        ("FT-15", "stands_still", "held", unready(4).end(2300)),
        ("FT-15", "orders", "violated", unready(4).order(2062, "small", 7).end(2300)),
        ("FT-15", "three_are_allowed", "unknown", unready(3).order(2062, "small", 7).end(2300)),
        (
            "FT-17",
            "survives",
            "held",
            slow().ready(800, "small-7", true).runs(810, "web-1", "small-7").end(2000),
        ),
        ("FT-17", "thrown_away", "violated", slow().give_back(400, 7).end(2000)),
        ("FT-17", "replaced", "violated", slow().order(400, "small", 8).end(2000)),
        (
            "FT-17",
            "ready_at_once",
            "unknown",
            Story::new().order(112, "small", 7).node(150, 7, "small").end(2000),
        ),
        ("FT-19", "survives", "held", anonymous().end(3000)),
        ("FT-19", "thrown_away", "violated", anonymous().give_back(1100, 7).end(3000)),
        (
            "FT-19",
            "has_an_id",
            "unknown",
            Story::new().order(112, "small", 7).node(150, 7, "small").end(3000),
        ),
    ]
}

fn of_the_subject() -> Vec<Case> {
    let two = || {
        let story = Story::asleep().started(0, 0).started(0, 1).node(0, 1, "small");
        story.object(
            5,
            "Lease",
            "kube-system/cluster-autoscaler",
            json!({"spec": {"holderIdentity": "ca-0"}}),
        )
    };
    let other_leads = |story: Story, second: u64| {
        story.object(
            second,
            "Lease",
            "kube-system/cluster-autoscaler",
            json!({"spec": {"holderIdentity": "ca-1"}}),
        )
    };
    let hung = || {
        let story = Story::new().health(20, 200);
        story.long_call(200, 1_500_000, Api::Cloud, "GET", "/v1/servers", |call| call.status = 0)
    };
    let left = || {
        let story = Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
        story.killed(703, 0).started(705, 0)
    };
    vec![
        ("FT-06", "noticed", "held", hung().health(810, 500).end(2000)),
        ("FT-06", "not_noticed", "violated", hung().end(2000)),
        (
            "FT-06",
            "goes_on",
            "unknown",
            (11..90).fold(hung(), |story, tens| story.status(tens * 10)).end(2000),
        ),
        ("FT-10", "the_leader", "held", two().removal(700, 1).end(2000)),
        ("FT-10", "another_one", "violated", other_leads(two(), 300).removal(700, 1).end(2000)),
        ("FT-10", "just_lost_the_lease", "held", other_leads(two(), 690).removal(700, 1).end(2000)),
        ("FT-10", "one_replica", "unknown", Story::new().node(0, 1, "small").removal(700, 1).end(2000)),
        ("FT-13", "cleared", "held", left().untaint(730, "small-1").end(2000)),
        ("FT-13", "given_back", "held", left().give_back(730, 1).end(2000)),
        ("FT-13", "left_so", "violated", left().end(2000)),
        (
            "FT-13",
            "nothing_was_left",
            "unknown",
            Story::new().node(0, 1, "small").killed(703, 0).started(705, 0).end(2000),
        ),
    ]
}
