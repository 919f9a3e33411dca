//! Stories about the faults of others.

use scaleproof::history::{CallEvent, FaultChange, Phase, SubjectChange, SubjectEvent, What};
use scaleproof::terms::{Api, Timer};
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
        ("FT-07", "another_pod_waits", "unknown", {
            let owner = json!([{"kind": "ReplicaSet", "name": "other", "controller": true}]);
            let story = Story::new().node(0, 1, "small").runs(10, "web-1", "small-1").server_gone(100, 1);
            let story = story.gone(130, "Node", "small-1").pod_gone(131, "web-1");
            story.pending_as(300, "other-1", json!({"metadata": {"ownerReferences": owner}})).end(900)
        }),
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
    .chain(of_orders())
    .chain(of_nodes())
    .chain(of_the_subject())
    .collect()
}

fn of_the_cloud() -> Vec<Case> {
    let asks = |story: Story, from: u64, count: u64| {
        let ask = |story: Story, index: u64| {
            story.call(from + index * 60 / count, Api::Cloud, "GET", "/v1/servers", |call| call.status = 429)
        };
        (0..count).fold(story, ask)
    };
    let limited = |count: u64| asks(Story::new(), 100, count);
    let list = |story: Story, second: u64, status: u16| {
        story.call(second, Api::Cloud, "GET", "/v1/servers", |call| call.status = status)
    };
    let refused = || {
        let story = Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
        story.give_back_refused(708, 1, 423)
    };
    vec![
        ("FT-01", "one_a_second", "held", limited(60).end(900)),
        ("FT-01", "oftener", "violated", limited(61).end(900)),
        ("FT-01", "oftener_the_second_time", "violated", asks(limited(60), 300, 61).end(900)),
        ("FT-01", "oftener_across_two_minutes", "violated", {
            let once = asks(Story::new(), 100, 1);
            let ask = |story: Story, second: u64| {
                story.call(second, Api::Cloud, "GET", "/v1/servers", |call| call.status = 429)
            };
            (0..40).chain(0..40).fold(once, |story, index| ask(story, 140 + index)).end(900)
        }),
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
        ("FT-02", "acts_after_the_first_page", "violated", {
            let page = |story: Story, second: u64, page: u64, status: u16| {
                story.call(second, Api::Cloud, "GET", "/v1/servers", |call| {
                    call.query = format!("page={page}&per_page=50");
                    call.status = status;
                })
            };
            let tried = |story, second| page(page(story, second, 1, 200), second, 2, 503);
            let story = [600, 660, 668].into_iter().fold(Story::new().node(0, 1, "small"), tried);
            story.removal(663, 1).end(2000)
        }),
        ("FT-02", "drained_when_it_failed", "held", {
            let story =
                Story::new().node(0, 1, "small").taint(590, "small-1", "ToBeDeletedByClusterAutoscaler");
            list(list(story, 600, 503), 700, 200).give_back(640, 1).end(2000)
        }),
        ("FT-02", "an_order_took_too_long_meanwhile", "held", {
            let story = Story::new().pending(100, "web-1").order_slow(112, "small", 7);
            list(list(story, 390, 503), 500, 200).give_back(412, 7).end(2000)
        }),
        ("FT-02", "asked_again_for_what_was_refused", "held", {
            let story = Story::new().pending(100, "web-1").order(112, "small", 7).pod_gone(130, "web-1");
            let story = list(list(story, 1032, 503), 1100, 200).give_back_refused(1030, 7, 409);
            story.give_back(1040, 7).end(2000)
        }),
        (
            "FT-02",
            "never_failed",
            "unknown",
            list(Story::new().node(0, 1, "small"), 600, 200).removal(700, 1).end(2000),
        ),
        ("FT-16", "undone", "held", refused().untaint(712, "small-1").end(1500)),
        ("FT-16", "tried_again", "held", refused().give_back(740, 1).end(2000)),
        ("FT-16", "left_so", "violated", refused().end(2000)),
        ("FT-16", "writes_of_nodes_are_refused_as_well", "unknown", {
            let failed = |call: &mut CallEvent| call.status = 503;
            refused().call(710, Api::Kubernetes, "PUT", "/api/v1/nodes/small-1", failed).end(2000)
        }),
        ("FT-16", "never_refused", "unknown", Story::new().node(0, 1, "small").removal(700, 1).end(2000)),
    ]
}

/// Orders whose making is looked at, lost in the answer, or met by conflicts.
#[expect(clippy::too_many_lines, reason = "a table of stories")]
fn of_orders() -> Vec<Case> {
    let lost = || Story::new().pending(100, "web-1").order_lost(112, "small", 7);
    let ordered = || {
        let story = Story::new().pending(100, "web-1").server_as(112, 7, "small", "initializing");
        story.call(112, Api::Cloud, "POST", "/v1/servers", |call| {
            call.request = Some(json!({"name": "small-7", "labels": {"hcloud/node-group": "small"}}));
            call.status = 201;
            call.answer =
                Some(json!({"server": {"id": 7}, "action": {"id": 1}, "next_actions": [{"id": 2}]}));
        })
    };
    let look = |story: Story, second, status: u16, says: &str| {
        let answer = json!({"actions": [{"id": 1, "status": "success"}, {"id": 2, "status": says}]});
        story.call(second, Api::Cloud, "GET", "/v1/actions", |call| {
            call.query = "id=1&id=2&page=1".into();
            call.status = status;
            call.answer = (status == 200).then_some(answer);
        })
    };
    let arrives = |story: Story| {
        story.server_as(130, 7, "small", "running").node(150, 7, "small").runs(160, "web-1", "small-7")
    };
    let conflicts = |seconds: &[u64]| {
        let met = |story: Story, second: &u64| {
            story.call(*second, Api::Cloud, "GET", "/v1/servers", |call| call.status = 409)
        };
        let says = "hurt conflicts: cloud(code: conflict, kind: error, on: (method: GET, path: /servers))";
        let story = Story::new().fault(90, "conflicts", FaultChange::Injected(says.into()));
        let story = story.fault(100, "conflicts", FaultChange::Bit("GET".into()));
        let healed = seconds.last().map_or(700, |last| last / 100 * 100 + 100);
        seconds.iter().fold(story, met).fault(healed, "conflicts", FaultChange::Healed(1))
    };
    let listed = |story: Story, second| story.call(second, Api::Cloud, "GET", "/v1/servers", |_| {});
    vec![
        ("FT-03", "looks_again", "held", arrives(look(ordered(), 114, 503, "")).end(900)),
        ("FT-03", "gives_up", "violated", look(ordered(), 114, 503, "").give_back(115, 7).end(900)),
        ("FT-03", "gives_up_the_second_time", "violated", {
            let story = look(look(ordered(), 114, 503, ""), 116, 200, "running");
            look(story, 240, 503, "").give_back(241, 7).end(900)
        }),
        (
            "FT-03",
            "was_told_of_a_failure",
            "held",
            look(look(ordered(), 114, 503, ""), 116, 200, "error").give_back(117, 7).end(900),
        ),
        ("FT-03", "no_look_failed", "unknown", arrives(look(ordered(), 114, 200, "running")).end(900)),
        ("FT-04", "given_back", "held", look(ordered(), 114, 200, "error").give_back(115, 7).end(900)),
        ("FT-04", "left", "violated", look(ordered(), 114, 200, "error").end(900)),
        (
            "FT-04",
            "ordered_again_at_once",
            "violated",
            look(ordered(), 114, 200, "error").give_back(115, 7).order(130, "small", 8).end(900),
        ),
        ("FT-04", "another_order_of_the_batch_is_repeated", "held", {
            let story = look(ordered(), 114, 200, "error").give_back(115, 7);
            story.order_refused(112, "small", 8, 429).order(120, "small", 8).node(150, 8, "small").end(900)
        }),
        ("FT-04", "another_order_of_the_batch_comes_later", "held", {
            let failed = look(ordered(), 113, 200, "error").give_back(114, 7);
            failed.order(116, "small", 8).node(150, 8, "small").end(900)
        }),
        ("FT-04", "no_creation_failed", "unknown", arrives(look(ordered(), 114, 200, "success")).end(900)),
        ("FT-05", "goes_on", "held", conflicts(&[100, 300, 600]).status(720).end(2000)),
        ("FT-05", "frozen", "violated", conflicts(&[100, 300, 600]).end(2000)),
        ("FT-05", "only_lists", "violated", listed(conflicts(&[100, 300, 600]), 720).end(2000)),
        ("FT-05", "another_fault_is_healed_meanwhile", "held", {
            let story = conflicts(&[100, 300, 600, 1100]).status(1230);
            let story =
                story.fault(90, "slow", FaultChange::Injected("hurt slow: slow_kubelet(takes: 1h)".into()));
            story
                .fault(100, "slow", FaultChange::Bit("a".into()))
                .fault(700, "slow", FaultChange::Healed(1))
                .end(2000)
        }),
        ("FT-05", "only_for_a_moment", "unknown", conflicts(&[650, 680]).status(720).end(2000)),
        ("FT-08", "used", "held", lost().node(150, 7, "small").runs(160, "web-1", "small-7").end(2000)),
        ("FT-08", "given_back", "held", lost().give_back(1100, 7).end(2000)),
        ("FT-08", "left", "violated", lost().end(2000)),
        ("FT-08", "left_long_after_a_fault", "violated", {
            let failed = |call: &mut CallEvent| call.status = 503;
            lost().call(600, Api::Cloud, "GET", "/v1/servers", failed).end(4000)
        }),
        (
            "FT-08",
            "bought_again_and_again",
            "violated",
            lost().order_lost(113, "small", 8).order(114, "small", 9).node(150, 7, "small").end(2000),
        ),
        ("FT-08", "lists_hide_what_was_bought", "held", {
            let says = "hurt lag: cloud(kind: unseen, lag_s: 900)";
            let story = lost().fault(50, "lag", FaultChange::Injected(says.into()));
            let story = story.order_lost(113, "small", 8).order(114, "small", 9);
            story.node(150, 7, "small").node(150, 8, "small").node(150, 9, "small").end(2000)
        }),
        ("FT-08", "bought_for_nobody_that_fits", "held", {
            let giant = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "100"}}}]}});
            let story = Story::new().pending_as(90, "giant", giant).order_lost(112, "small", 7);
            story.order_lost(113, "small", 8).order(114, "small", 9).node(150, 7, "small").end(900)
        }),
        (
            "FT-08",
            "all_were_answered",
            "unknown",
            Story::new().pending(100, "web-1").order(112, "small", 7).node(150, 7, "small").end(2000),
        ),
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
        ("FT-15", "one_of_them_is_being_removed", "unknown", {
            let story = unready(4).taint(2005, "small-4", "ToBeDeletedByClusterAutoscaler");
            story.order(2062, "small", 7).end(2300)
        }),
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

#[expect(clippy::too_many_lines, reason = "a table of stories")]
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
    let hung_until = |second: u64| {
        let story = Story::new().health(20, 200).status(5).status(30);
        story.long_call(200, second * 1000, Api::Cloud, "GET", "/v1/servers", |call| call.status = 0)
    };
    let hung = || hung_until(1500);
    let hung_at_first = || {
        let story = Story::new().timer(Timer::MaxStartup, "20m").status(3).health(4, 200);
        story.long_call(5, 1_900_000, Api::Cloud, "GET", "/v1/servers", |call| call.status = 0)
    };
    let left = || {
        let story = Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
        story.killed(703, 0).started(705, 0)
    };
    let renew = |story: Story, second, status: u16| {
        let path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cluster-autoscaler";
        story.call(second, Api::Kubernetes, "PUT", path, |call| {
            call.status = status;
            call.fate = (status == 0).then(|| "outage".into());
        })
    };
    let outage = || {
        let story = Story::new().timer(Timer::LeaseRenewDeadline, "10s");
        renew(renew(story, 100, 200), 102, 0)
    };
    vec![
        ("FT-09", "goes_on", "held", renew(renew(outage(), 104, 0), 106, 200).end(900)),
        ("FT-09", "ends_at_once", "violated", outage().exited(103, 255).started(105, 0).end(900)),
        ("FT-09", "is_told_to_end", "unknown", outage().killed(103, 0).exited(103, 0).end(900)),
        ("FT-09", "is_told_to_end_as_it_is_unwell", "unknown", {
            let unwell = SubjectEvent { replica: 0, change: SubjectChange::Unwell { failures: 3 } };
            outage().what(103, What::Subject(unwell)).exited(103, 0).started(105, 0).end(900)
        }),
        (
            "FT-09",
            "ends_with_the_run",
            "unknown",
            outage().phase(103, Phase::Account).exited(103, 0).end(103),
        ),
        (
            "FT-09",
            "ends_after_the_deadline",
            "unknown",
            renew(outage(), 108, 0).exited(112, 255).started(115, 0).end(900),
        ),
        ("FT-06", "noticed", "held", hung().health(810, 500).end(2000)),
        ("FT-06", "not_noticed", "violated", hung().end(2000)),
        ("FT-06", "ended_by_the_restart", "held", hung_until(840).health(810, 500).killed(840, 0).end(2000)),
        (
            "FT-06",
            "started_again_and_writes",
            "held",
            hung_until(820).health(810, 500).killed(820, 0).started(822, 0).status(825).end(2000),
        ),
        ("FT-06", "ended_by_itself", "unknown", hung_until(815).end(2000)),
        (
            "FT-06",
            "goes_on",
            "unknown",
            (11..90).fold(hung(), |story, tens| story.status(tens * 10)).end(2000),
        ),
        ("FT-06", "not_noticed_in_a_first_loop", "violated", hung_at_first().end(2000)),
        ("FT-06", "noticed_in_a_first_loop", "held", hung_at_first().health(1215, 500).end(2000)),
        ("FT-21", "has_its_time", "held", hung_at_first().health(1215, 500).end(2000)),
        ("FT-21", "has_no_time", "violated", hung_at_first().health(725, 500).end(2000)),
        ("FT-21", "is_stopped", "unknown", {
            let paused = SubjectEvent { replica: 0, change: SubjectChange::Paused };
            hung_at_first().what(700, What::Subject(paused)).health(725, 500).end(2000)
        }),
        ("FT-21", "ends_first", "held", hung_at_first().exited(900, 255).end(2000)),
        ("FT-21", "has_had_its_first_loop", "unknown", hung().health(725, 500).end(2000)),
        ("FT-10", "the_leader", "held", two().removal(700, 1).end(2000)),
        ("FT-10", "another_one", "violated", other_leads(two(), 300).removal(700, 1).end(2000)),
        ("FT-10", "just_lost_the_lease", "held", other_leads(two(), 690).removal(700, 1).end(2000)),
        ("FT-10", "on_its_way_when_it_was_stopped", "unknown", {
            let told = |change| What::Subject(SubjectEvent { replica: 0, change });
            let story = two().what(600, told(SubjectChange::Paused));
            let story = other_leads(story, 620).what(700, told(SubjectChange::Resumed));
            story.give_back(701, 1).end(2000)
        }),
        ("FT-10", "acts_on_after_it_was_stopped", "violated", {
            let told = |change| What::Subject(SubjectEvent { replica: 0, change });
            let story = two().what(600, told(SubjectChange::Paused));
            let story = other_leads(story, 620).what(700, told(SubjectChange::Resumed));
            story.give_back(705, 1).end(2000)
        }),
        ("FT-10", "one_replica", "unknown", Story::new().node(0, 1, "small").removal(700, 1).end(2000)),
        ("FT-13", "cleared", "held", left().untaint(730, "small-1").end(1500)),
        ("FT-13", "given_back", "held", left().give_back(730, 1).end(2000)),
        ("FT-13", "left_so", "violated", left().end(2000)),
        ("FT-13", "left_long_after_a_fault", "violated", {
            left().call(710, Api::Kubernetes, "GET", "/api/v1/pods", |call| call.status = 503).end(2000)
        }),
        ("FT-13", "refused_by_the_cloud_before", "violated", {
            let story =
                Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
            story.give_back_refused(702, 1, 423).killed(703, 0).started(705, 0).end(2000)
        }),
        ("FT-13", "taken_over_and_left", "violated", {
            let story = two().taint(700, "small-1", "ToBeDeletedByClusterAutoscaler").killed(703, 0);
            other_leads(story, 720).end(2000)
        }),
        ("FT-13", "the_leader_drains_while_a_standby_starts", "unknown", {
            let story = two().taint(700, "small-1", "ToBeDeletedByClusterAutoscaler").started(710, 1);
            story.give_back(880, 1).end(2000)
        }),
        (
            "FT-13",
            "nothing_was_left",
            "unknown",
            Story::new().node(0, 1, "small").killed(703, 0).started(705, 0).end(2000),
        ),
    ]
}
