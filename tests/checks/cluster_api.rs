//! Stories about machine deployments: what only Cluster API has, and what is shared, told again by machines.

use scaleproof::check::{Verdict, catalogue};
use scaleproof::terms::{Api, Provider};
use serde_json::{Value, json};

use super::retold::as_machines;
use super::story::Story;
use super::{Case, cases as all_cases, read, word};

impl Story {
    /// Pools are machine deployments from here on.
    fn grouped(mut self) -> Self {
        self.header.subject.provider = Provider::Clusterapi;
        self
    }

    /// A deployment as it is from then on.
    fn group(self, second: u64, pool: &str, replicas: u64, annotations: &Value) -> Self {
        let group = json!({"metadata": {"annotations": annotations}, "spec": {"replicas": replicas}});
        self.object(second, "MachineDeployment", &format!("default/{pool}"), group)
    }

    /// A machine of a pool.
    fn machine(self, second: u64, id: u64, pool: &str, status: &Value) -> Self {
        let labels = json!({"cluster.x-k8s.io/deployment-name": pool});
        let machine = json!({"metadata": {"uid": id.to_string(), "labels": labels},
            "spec": {"providerID": format!("hcloud://{id}")}, "status": status});
        self.object(second, "Machine", &format!("default/{pool}-{id}"), machine)
    }

    /// A machine of a pool with its ready node.
    fn machine_with_node(self, second: u64, id: u64, pool: &str) -> Self {
        self.machine(second, id, pool, &json!({"phase": "Running"})).node_as(second, id, pool, json!({}))
    }

    /// A machine is marked, or loses its mark.
    fn mark(self, second: u64, id: u64, pool: &str, mark: &Value) -> Self {
        let marked = json!({"metadata": {"annotations": {"cluster.x-k8s.io/delete-machine": mark}}});
        self.object(second, "Machine", &format!("default/{pool}-{id}"), marked)
    }

    /// A node is tainted, its machine marked, and its deployment made smaller.
    fn removed(self, second: u64, id: u64, pool: &str, to: u64) -> Self {
        let story = self.taint(second - 8, &format!("{pool}-{id}"), "ToBeDeletedByClusterAutoscaler");
        story.mark(second, id, pool, &json!("now")).scale(second + 1, pool, to, 200)
    }

    /// A machine is told to go.
    fn told(self, second: u64, id: u64, pool: &str) -> Self {
        let told = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
        self.object(second, "Machine", &format!("default/{pool}-{id}"), told)
    }

    /// A machine set has so many machines.
    fn set(self, second: u64, pool: &str, name: &str, replicas: u64) -> Self {
        let set = json!({"metadata": {"labels": {"cluster.x-k8s.io/deployment-name": pool}},
            "spec": {"replicas": replicas}, "status": {"replicas": replicas}});
        self.object(second, "MachineSet", &format!("default/{name}"), set)
    }

    /// The subject writes the size of a deployment.
    fn scale(self, second: u64, pool: &str, to: u64, status: u16) -> Self {
        let path =
            format!("/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinedeployments/{pool}/scale");
        self.call(second, Api::Kubernetes, "PATCH", &path, |call| {
            call.request = Some(json!({"spec": {"replicas": to}}));
            call.status = status;
        })
    }
}

fn bounds(min: u32, max: u32) -> Value {
    json!({"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": min.to_string(),
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": max.to_string()})
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = conflicts();
    cases.extend(hands_off());
    cases.extend(machines());
    cases
}

fn conflicts() -> Vec<Case> {
    let rivals = || {
        let story = Story::new().grouped().but(|pool| pool.priority = Some(10)).pool("big", 0, 3, 16000);
        let story = story.but(|pool| pool.priority = Some(50)).pending(100, "web-1");
        story.group(0, "big", 0, &bounds(0, 3)).group(0, "small", 0, &bounds(0, 3))
    };
    let storm = |story: Story| {
        (108..116).fold(story, |story, second| {
            story.group(second, "big", 0, &json!({"edited": second.to_string()}))
        })
    };
    let limited = || {
        let story = Story::new().grouped().pool("small", 0, 1, 4000).group(0, "small", 1, &bounds(0, 1));
        story.machine_with_node(0, 1, "small").runs_as(10, "web-1", "small-1", big()).pending_as(
            100,
            "web-2",
            big(),
        )
    };
    vec![
        (
            "BO-06",
            "tried_again",
            "held",
            rivals().scale(112, "big", 1, 409).scale(123, "big", 1, 200).end(400),
        ),
        ("BO-06", "in_a_storm", "held", storm(rivals()).scale(112, "big", 1, 200).end(400)),
        ("BO-06", "another_one", "violated", {
            rivals().scale(112, "big", 1, 409).scale(125, "small", 1, 200).end(400)
        }),
        ("BO-06", "nothing_more", "violated", rivals().scale(112, "big", 1, 409).end(400)),
        ("BO-06", "another_one_for_others", "held", {
            let story = rivals().pool("fast", 0, 3, 4000).labelled("disk", "fast");
            let story = story.group(0, "fast", 0, &bounds(0, 3)).pending_as(100, "db-1", picky());
            let story = story.scale(112, "big", 1, 409).scale(118, "fast", 1, 200);
            story.scale(123, "big", 1, 200).end(400)
        }),
        ("BO-06", "who_waits_is_another", "unknown", {
            let story = rivals().pending_as(50, "db-1", picky()).scale(112, "big", 1, 409);
            story.pod_gone(115, "web-1").end(400)
        }),
        ("BO-03", "it_was_paused_meanwhile", "unknown", {
            let story = Story::new().grouped().group(0, "small", 0, &bounds(0, 3)).pending(100, "web-1");
            let story = story.scale(112, "small", 1, 500);
            story.group(200, "small", 0, &json!({"cluster.x-k8s.io/paused": "true"})).end(3000)
        }),
        ("BO-01", "a_client_that_is_put_off", "unknown", {
            let story = Story::new().grouped().group(0, "small", 0, &bounds(0, 3)).pending(100, "web-1");
            let story = story.scale(112, "small", 1, 429).scale(113, "small", 1, 429);
            story.scale(115, "small", 1, 200).end(400)
        }),
        ("BO-06", "nobody_interferes", "unknown", rivals().scale(112, "big", 1, 200).end(400)),
        ("MM-05", "the_maximum_was_lowered", "violated", {
            let story = Story::new().grouped().group(0, "small", 2, &bounds(0, 3));
            let story = story.machine_with_node(0, 1, "small").machine_with_node(0, 2, "small");
            let story = story.runs_as(10, "web-1", "small-1", big()).runs_as(10, "web-2", "small-2", big());
            story
                .group(200, "small", 2, &bounds(0, 1))
                .removed(900, 1, "small", 1)
                .told(902, 1, "small")
                .end(1500)
        }),
        ("MM-09", "grows", "held", {
            limited().group(200, "small", 1, &bounds(0, 2)).scale(215, "small", 2, 200).end(600)
        }),
        ("MM-09", "stays", "violated", limited().group(200, "small", 1, &bounds(0, 2)).end(600)),
        ("MM-09", "had_not_been_reached", "unknown", {
            let story = Story::new().grouped().pool("small", 0, 2, 4000).group(0, "small", 1, &bounds(0, 2));
            let story = story.machine_with_node(0, 1, "small").runs_as(10, "web-1", "small-1", big());
            let story = story.pending_as(195, "web-2", big()).group(200, "small", 1, &bounds(0, 3));
            story.scale(215, "small", 2, 200).end(600)
        }),
        ("MM-09", "nobody_waits", "unknown", {
            limited().pod_gone(150, "web-2").group(200, "small", 1, &bounds(0, 2)).end(600)
        }),
    ]
}

/// A pod that needs most of a node.
fn big() -> Value {
    json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "3500m", "memory": "1Gi"}}}]}})
}

/// A pod that no pool takes but one with fast disks.
fn picky() -> Value {
    json!({"spec": {"nodeSelector": {"disk": "fast"}}})
}

fn hands_off() -> Vec<Case> {
    let two = || {
        let story = Story::new().grouped().group(0, "small", 2, &bounds(0, 3));
        story.machine_with_node(0, 1, "small").machine_with_node(0, 2, "small").set(0, "small", "small-a", 2)
    };
    let rolling = || two().set(500, "small", "small-b", 1);
    let paused = || {
        let story = Story::new().grouped().group(0, "small", 0, &bounds(0, 3));
        story.group(50, "small", 0, &json!({"cluster.x-k8s.io/paused": "true"})).pending(150, "web-1")
    };
    vec![
        ("SD-14", "afterwards", "held", {
            let story = rolling().set(1200, "small", "small-a", 0);
            story.removed(1400, 1, "small", 1).end(2000)
        }),
        ("SD-14", "in_the_middle", "violated", { rolling().removed(700, 1, "small", 1).end(2000) }),
        ("SD-14", "one_that_never_came_is_cleared_away", "held", {
            let story = rolling().set(1000, "small", "small-a", 0);
            let story = story.machine(0, 3, "small", &json!({"phase": "Provisioning"}));
            story.mark(950, 3, "small", &json!("now")).scale(951, "small", 1, 200).end(1500)
        }),
        ("SD-14", "no_roll_out", "unknown", two().end(2000)),
        ("SD-15", "left_alone", "held", paused().end(2000)),
        ("SD-15", "scaled", "violated", paused().scale(200, "small", 1, 200).end(2000)),
        ("SD-15", "nobody_is_tempted", "unknown", paused().pod_gone(170, "web-1").end(2000)),
        ("SD-15", "a_vacant_node_is_left", "held", {
            two().group(50, "small", 2, &json!({"cluster.x-k8s.io/paused": "true"})).end(2000)
        }),
        ("SD-15", "not_paused", "unknown", two().end(2000)),
    ]
}

fn machines() -> Vec<Case> {
    let one = || Story::new().grouped().group(0, "small", 1, &bounds(0, 3)).machine_with_node(0, 1, "small");
    let failed = || {
        let story = Story::new().grouped().group(0, "small", 0, &bounds(0, 3)).scale(100, "small", 1, 200);
        let story = story.group(101, "small", 1, &json!({})).machine(
            101,
            1,
            "small",
            &json!({"phase": "Provisioning"}),
        );
        story.machine(120, 1, "small", &json!({"phase": "Failed", "failureMessage": "no quota"}))
    };
    let mark = || json!("now");
    // From 300 s on the group has an unneeded time of its own: 25 minutes; the node has been unneeded since it came.
    let own = json!({"cluster.x-k8s.io/autoscaling-options-scaledownunneededtime": "25m"});
    let patient = || one().group(300, "small", 1, &own);
    vec![
        ("SD-01", "gone_by_its_own_time", "held", {
            patient().removed(1520, 1, "small", 0).told(1522, 1, "small").end(4000)
        }),
        ("SD-01", "gone_before_its_own_time", "violated", {
            patient().removed(720, 1, "small", 0).told(722, 1, "small").end(4000)
        }),
        ("SD-01", "its_own_time_is_over", "violated", patient().end(4000)),
        ("SF-15", "marked", "held", { one().removed(700, 1, "small", 0).told(702, 1, "small").end(900) }),
        ("SF-15", "not_marked", "violated", one().scale(701, "small", 0, 200).told(702, 1, "small").end(900)),
        ("SF-15", "marked_once_and_no_longer", "violated", {
            let story = one().mark(300, 1, "small", &mark()).scale(301, "small", 0, 500);
            let story = story.mark(305, 1, "small", &Value::Null);
            story.scale(701, "small", 0, 200).told(702, 1, "small").end(900)
        }),
        ("SF-15", "nothing_goes", "unknown", one().end(900)),
        ("HY-09", "taken_back", "held", {
            let story = one().mark(700, 1, "small", &mark()).scale(701, "small", 0, 500);
            story.mark(705, 1, "small", &Value::Null).end(900)
        }),
        (
            "HY-09",
            "left",
            "violated",
            one().mark(700, 1, "small", &mark()).scale(701, "small", 0, 500).end(900),
        ),
        ("HY-09", "machines_cannot_be_written_either", "unknown", {
            let story = one().mark(700, 1, "small", &mark()).scale(701, "small", 0, 500);
            let path = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines/small-1";
            story.call(703, Api::Kubernetes, "PUT", path, |call| call.status = 500).end(900)
        }),
        ("HY-09", "nothing_fails", "unknown", one().end(900)),
        ("BO-08", "at_once", "held", {
            failed().mark(150, 1, "small", &mark()).scale(151, "small", 0, 200).told(152, 1, "small").end(900)
        }),
        ("BO-08", "waited_for", "violated", failed().end(900)),
        ("BO-08", "it_comes", "unknown", one().end(900)),
    ]
}

/// What stories of servers tell that machines do not: what was seen of the cloud's own troubles.
const ONLY_SERVERS: &[(&str, &str)] =
    // A size has no machine of nobody to give back, and whoever writes it stands in no order.
    &[("SF-14", "foreign_server"), ("HY-05", "stands_in_an_order")];

#[test]
fn what_is_shared_is_judged_the_same_when_machines_tell_it() {
    let shared: Vec<_> = catalogue()
        .into_iter()
        .filter(|one| [Provider::Hetzner, Provider::Clusterapi].iter().all(|by| one.providers.contains(by)))
        .collect();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for (code, case, expected, story) in all_cases() {
        let Some(expectation) = shared.iter().find(|one| one.code.as_str() == code) else { continue };
        if ONLY_SERVERS.contains(&(code, case)) {
            continue;
        }
        let verdict: Verdict = (expectation.check)(&as_machines(&read(&story.text(code, case))));
        judged += 1;
        if word(&verdict) != expected {
            wrong.push(format!("{code}/{case} is {expected}, by machines {verdict:?}"));
        }
    }
    assert!(judged > 100 && wrong.is_empty(), "{} of {judged}:\n{}\n", wrong.len(), wrong.join("\n"));
}
