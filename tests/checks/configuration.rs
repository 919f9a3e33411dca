//! Stories about settings and about starting.

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
    let slow = || {
        let story = Story::new().pending(100, "web-1").order_slow(112, "small", 7);
        story.call(150, Api::Cloud, "GET", "/v1/actions", |call| {
            call.answer = Some(json!({"actions": [{"id": 1, "status": "running"}]}));
        })
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
            let story = slow().call(190, Api::Cloud, "GET", "/v1/actions", |call| {
                call.answer = Some(json!({"actions": [{"id": 1, "status": "error"}]}));
            });
            story.give_back(200, 7).end(900)
        }),
        ("CF-02", "made_in_time", "unknown", slow().server_as(180, 7, "small", "running").end(900)),
        ("CF-05", "starts", "held", forbidden(Story::new()).status(30).end(300)),
        ("CF-05", "hangs", "violated", forbidden(Story::new()).end(300)),
        ("CF-05", "killed_before", "unknown", forbidden(Story::new()).killed(50, 0).end(300)),
    ]
}
