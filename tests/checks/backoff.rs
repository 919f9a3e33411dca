//! Stories about pools that fail, and their recovery.

use scaleproof::history::FaultChange;
use serde_json::json;

use super::Case;
use super::story::Story;

#[expect(clippy::too_many_lines, reason = "a table of stories")]
pub(crate) fn cases() -> Vec<Case> {
    let waits = || Story::new().pending(100, "web-1");
    let refused = |seconds: &[u64]| {
        seconds.iter().fold(waits(), |story, second| story.order_refused(*second, "small", *second, 412))
    };
    let rivals =
        || Story::new().pool("big", 0, 3, 16000).pending(100, "web-1").order_refused(112, "small", 7, 412);
    let never = || Story::new().pool("big", 0, 3, 16000).pending(100, "web-1").order(112, "small", 7);
    let partly = || {
        let story = Story::new().pool("other", 0, 3, 4000).pending(100, "web-1");
        story.order(112, "small", 7).order_refused(112, "small", 8, 412)
    };
    let aside = |story: Story| {
        let tolerates = json!([{"key": "aside", "operator": "Exists"}]);
        let spec = json!({"spec": {"nodeSelector": {"disk": "fast"}, "tolerations": tolerates}});
        let story = story.pool("aside", 0, 3, 4000).tainted("aside").labelled("disk", "fast");
        story.pending_as(100, "db-1", spec)
    };
    let huge = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "1000"}}}]}});
    let retired = || {
        let trouble = json!({"kind": "retired", "server_type": "cx43"});
        let mut story = Story::new().pool("broken", 0, 3, 4000).but(|pool| pool.machine = "cx43".into());
        story.header.plan =
            json!({"steps": [{"act": {"hurt": {"name": "retired", "fault": {"cloud": trouble}}}}]});
        let story = story.fault(50, "retired", FaultChange::Injected("cx43 is retired".into()));
        story.pending(100, "web-1")
    };
    vec![
        ("BO-01", "doubles", "held", refused(&[112, 420, 1030, 2240]).end(3000)),
        ("BO-01", "at_once", "violated", refused(&[112, 130]).end(3000)),
        ("BO-01", "does_not_double", "violated", refused(&[112, 420, 730]).end(3000)),
        (
            "BO-01",
            "doubles_up_to_the_maximum",
            "held",
            refused(&[112, 420, 1030, 2240, 4050, 5860]).end(6000),
        ),
        (
            "BO-01",
            "begins_anew_after_a_success",
            "held",
            refused(&[112, 420, 1400, 1710]).order(1030, "small", 8).node(1060, 8, "small").end(3000),
        ),
        ("BO-01", "another_pool_may_be_tried_at_once", "held", rivals().order(125, "big", 8).end(900)),
        ("BO-01", "forgotten_by_a_restart", "unknown", {
            refused(&[112])
                .killed(115, 0)
                .started(116, 0)
                .order_refused(190, "small", 8, 412)
                .killed(195, 0)
                .end(3000)
        }),
        ("BO-01", "nobody_waits_any_more", "unknown", refused(&[112]).pod_gone(113, "web-1").end(900)),
        ("BO-01", "nothing_is_refused", "unknown", waits().order(112, "small", 7).end(3000)),
        ("BO-02", "the_other_one", "held", rivals().order(125, "big", 8).end(300)),
        ("BO-02", "nobody", "violated", rivals().end(300)),
        ("BO-02", "another_one_for_others", "violated", { aside(rivals()).order(125, "aside", 9).end(300) }),
        ("BO-02", "who_it_was_for_went", "unknown", {
            rivals().pod_gone(130, "web-1").pending_as(50, "huge", huge).end(300)
        }),
        ("BO-02", "no_other_one", "unknown", refused(&[112]).end(300)),
        ("BO-03", "tried_again", "held", refused(&[112]).order(420, "small", 8).end(1000)),
        ("BO-03", "never_again", "violated", refused(&[112]).end(3000)),
        ("BO-03", "something_never_came_for_others", "violated", {
            aside(refused(&[112])).order(125, "aside", 9).end(3000)
        }),
        ("BO-03", "the_pod_went", "unknown", refused(&[112]).pod_gone(300, "web-1").end(3000)),
        ("BO-04", "the_other_one", "held", never().order(1030, "big", 8).give_back(1040, 7).end(1900)),
        ("BO-04", "nobody", "violated", never().end(3000)),
        ("BO-04", "the_same_one", "violated", never().give_back(1020, 7).order(1030, "small", 8).end(3000)),
        ("BO-04", "the_same_one_before", "unknown", never().order(800, "small", 8).end(1500)),
        (
            "BO-04",
            "another_one_for_others",
            "violated",
            aside(never())
                .order(212, "aside", 9)
                .node(250, 9, "aside")
                .runs(260, "db-1", "aside-9")
                .end(3000),
        ),
        (
            "BO-04",
            "who_waits_is_another",
            "unknown",
            aside(Story::new().pending(100, "web-1").order(112, "small", 7)).pod_gone(300, "web-1").end(3000),
        ),
        (
            "BO-04",
            "it_comes",
            "unknown",
            never().node(200, 7, "small").runs(210, "web-1", "small-7").end(3000),
        ),
        ("BO-05", "kept", "held", partly().node(150, 7, "small").runs(160, "web-1", "small-7").end(900)),
        ("BO-05", "given_back", "violated", partly().give_back(118, 7).end(900)),
        (
            "BO-05",
            "not_counted",
            "violated",
            partly().order(113, "other", 9).order(114, "other", 10).order(115, "other", 11).end(900),
        ),
        (
            "BO-05",
            "all_were_refused",
            "unknown",
            Story::new().pending(100, "web-1").order_refused(112, "small", 8, 412).end(900),
        ),
        ("BO-07", "nothing_else_fits", "unknown", retired().pool("small", 0, 0, 4000).end(900)),
        ("SU-01", "what_it_fits_is_no_longer_sold", "unknown", retired().pool("small", 0, 0, 4000).end(900)),
        ("BO-07", "sound_one_ordered", "held", retired().order(112, "small", 7).end(900)),
        ("BO-07", "nothing_ordered", "violated", retired().end(900)),
        ("BO-07", "nothing_ordered_for_who_waited_before", "violated", {
            let story = retired().pod_gone(110, "web-1").node(0, 1, "small").pending(40, "web-2");
            story.object(200, "Node", "small-1", json!({"spec": {"unschedulable": true}})).end(900)
        }),
        ("BO-07", "broken_one_ordered", "unknown", retired().order_refused(112, "broken", 7, 422).end(200)),
        (
            "BO-07",
            "all_are_sold",
            "unknown",
            Story::new().pool("broken", 0, 3, 4000).pending(100, "web-1").order(112, "small", 7).end(900),
        ),
    ]
}
