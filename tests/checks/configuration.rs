//! Stories about settings and about starting.

use scaleproof::history::{SubjectChange, SubjectEvent, What};
use scaleproof::terms::{Api, Timer};
use serde_json::json;

use super::Case;
use super::story::Story;

pub(crate) fn cases() -> Vec<Case> {
    let forbidden = |story: Story| {
        story.call(5, Api::Kubernetes, "GET", "/apis/storage.k8s.io/v1/volumeattachments", |call| {
            call.status = 403;
        })
    };
    let look = |story: Story, second: u64, action: u64, status: &str| {
        story.call(second, Api::Cloud, "GET", "/v1/actions", |call| {
            call.query = format!("id={action}");
            call.answer = Some(json!({"actions": [{"id": action, "status": status}]}));
        })
    };
    let slow = || {
        let story = Story::new().pending(100, "web-1").server_as(112, 7, "small", "initializing");
        let story = story.call(112, Api::Cloud, "POST", "/v1/servers", |call| {
            call.request = Some(json!({"name": "small-7", "labels": {"hcloud/node-group": "small"}}));
            call.status = 201;
            call.answer = Some(json!({"server": {"id": 7}, "action": {"id": 1}}));
        });
        look(story, 150, 1, "running")
    };
    vec![
        ("CF-02", "its_time", "held", slow().give_back(412, 7).end(900)),
        ("CF-02", "given_up_early", "violated", slow().give_back(200, 7).end(900)),
        (
            "CF-02",
            "made_after_the_default",
            "held",
            slow()
                .timer(Timer::CreationTimeout, "15m")
                .server_as(590, 7, "small", "running")
                .node(620, 7, "small")
                .runs(630, "web-1", "small-7")
                .end(2000),
        ),
        ("CF-02", "given_up_when_it_had_failed", "unknown", {
            look(slow(), 190, 1, "error").give_back(200, 7).end(900)
        }),
        ("CF-02", "given_up_while_another_is_made", "unknown", {
            look(look(slow(), 190, 1, "error"), 195, 2, "running").give_back(200, 7).end(900)
        }),
        ("CF-02", "given_up_while_another_fails", "violated", {
            look(slow(), 190, 2, "error").give_back(200, 7).end(900)
        }),
        ("CF-02", "made_in_time", "unknown", slow().server_as(180, 7, "small", "running").end(900)),
        ("CF-05", "starts", "held", forbidden(Story::new()).status(30).end(300)),
        ("CF-05", "hangs", "violated", forbidden(Story::new()).end(300)),
        ("CF-05", "killed_before", "unknown", forbidden(Story::new()).killed(50, 0).end(300)),
        ("CF-05", "ends_by_itself", "violated", Story::new().exited(1, 2).end(300)),
        ("CF-05", "ended_by_the_kernel", "unknown", {
            let change = SubjectChange::Exited { code: None, signal: Some(9) };
            Story::new().what(1, What::Subject(SubjectEvent { replica: 0, change })).end(300)
        }),
        (
            "CF-05",
            "ends_by_itself_and_is_never_steady",
            "violated",
            Story::new().exited(1, 2).what(30, What::Unsteady("failed to keep it".to_owned())).end(31),
        ),
        (
            "CF-05",
            "ends_as_nobody_answers",
            "unknown",
            Story::new()
                .call(1, Api::Kubernetes, "GET", "/api/v1/nodes", |call| call.status = 503)
                .exited(2, 255)
                .end(300),
        ),
    ]
}
