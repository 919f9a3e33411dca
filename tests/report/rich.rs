//! Histories to look at: one in which a bit of everything happens, and one that is too big to be drawn one by one.

use scaleproof::check::{Evidence, Judged, Judgement, Outcome, Verdict, catalogue};
use scaleproof::code::Code;
use scaleproof::history::{
    AccountEvent, FaultChange, FaultEvent, History, Phase, StepChange, StepEvent, SubjectChange,
    SubjectEvent, What, file,
};
use scaleproof::terms::Api;
use serde_json::json;

use crate::story::Story;

fn read(story: Story, path: &str, title: &str, expect: &[&'static str]) -> History {
    let mut history = file::read(story.text("SU-01", "rich").as_bytes()).unwrap();
    history.header.scenario.path = path.into();
    history.header.scenario.title = title.into();
    history.header.scenario.expect = expect.iter().map(|code| Code::new(code)).collect();
    history.header.seed = 4711;
    history.header.subject.profile = "cluster-autoscaler-hetzner".into();
    history.header.subject.command = vec!["/opt/builds/cluster-autoscaler".into(), "--v=4".into()];
    history
}

trait Tell {
    fn enters(self, second: u64, phase: Phase) -> Self;
    fn says(self, from: u64, to: u64, step: usize, says: &str) -> Self;
    fn overdue(self, from: u64, to: u64, step: usize, says: &str) -> Self;
    fn hurts(self, code: &'static str, name: &str, from: u64, bit: Option<u64>, to: u64, says: &str) -> Self;
    fn leads(self, second: u64, host: &str) -> Self;
    fn counted(self, second: u64, servers: u32, cost_millis: u64) -> Self;
}

impl Tell for Story {
    fn enters(self, second: u64, phase: Phase) -> Self {
        self.what(second, What::Phase(phase))
    }

    fn says(self, from: u64, to: u64, step: usize, says: &str) -> Self {
        let event = |change| What::Step(StepEvent { step, says: says.into(), change, may_fail: false });
        self.what(from, event(StepChange::Begun)).what(to, event(StepChange::Done))
    }

    fn overdue(self, from: u64, to: u64, step: usize, says: &str) -> Self {
        let event = |change| What::Step(StepEvent { step, says: says.into(), change, may_fail: false });
        self.what(from, event(StepChange::Begun))
            .what(to, event(StepChange::Overdue("2 of 3 servers are there".into())))
    }

    fn hurts(self, code: &'static str, name: &str, from: u64, bit: Option<u64>, to: u64, says: &str) -> Self {
        let event = |change| What::Fault(FaultEvent { code: Code::new(code), name: name.into(), change });
        let story = self.what(from, event(FaultChange::Injected(says.into())));
        let story = match bit {
            Some(bit) => story.what(bit, event(FaultChange::Bit("POST /v1/servers".into()))),
            None => story,
        };
        story.what(to, event(FaultChange::Healed(u64::from(bit.is_some()))))
    }

    fn leads(self, second: u64, host: &str) -> Self {
        let spec = json!({"spec": {"holderIdentity": host}});
        self.object(second, "Lease", "kube-system/cluster-autoscaler", spec)
    }

    fn counted(self, second: u64, servers: u32, cost_millis: u64) -> Self {
        self.what(
            second,
            What::Account(AccountEvent {
                servers: [("small".to_owned(), servers)].into(),
                nodes: [("small".to_owned(), servers)].into(),
                pending_pods: 0,
                stray_leases: 1,
                cost_millis,
                never_bit: vec!["quiet".into()],
            }),
        )
    }
}

/// An hour and a half with two pools, faults, an exit, a new leader, and a server too many.
pub(crate) fn rich() -> History {
    let mut story = Story::new().pool("large", 0, 4, 16000).started(2, 1).leads(8, "ca-0");
    story = story.enters(0, Phase::Prepare).enters(20, Phase::Settle).enters(60, Phase::Act);
    story = story.node(30, 1, "small").runs(40, "kube-1", "small-1");
    story = story
        .says(60, 62, 0, "deploy web: 6 pods of 1500m, 1Gi")
        .overdue(62, 960, 1, "until pool small has 3 servers, at most 15m")
        .says(1500, 1502, 2, "kill the leader")
        .says(1800, 1802, 3, "scale web to 12 pods")
        .says(2700, 2702, 4, "scale web to 1 pod")
        .says(2702, 4300, 5, "until the subject has given something back in pool small, at most 30m");
    story = story
        .hurts("F302", "lost", 58, Some(76), 700, "the answer to POST /servers is lost, twice")
        .hurts(
            "F101",
            "slow-network",
            900,
            Some(930),
            2200,
            "kubelets of small take 6m for the network plugin",
        )
        .hurts("F205", "quiet", 2300, None, 2500, "GET /nodes answers 410");
    for pod in 1..=6 {
        story = story.pending(61, &format!("web-{pod}"));
    }
    story =
        story.order(70, "small", 2).order_lost(75, "small", 3).order(86, "small", 4).order(97, "small", 5);
    story = story.node_unready(130, 2, "small").ready(190, "small-2", true);
    story = story.runs(196, "web-1", "small-2").runs(197, "web-2", "small-2");
    story = story.node_unready(160, 3, "small").ready(230, "small-3", true);
    story = story.runs(236, "web-3", "small-3").runs(237, "web-4", "small-3");
    story =
        story.node_unready(300, 4, "small").ready(660, "small-4", true).taint(1000, "small-4", "ToBeSeen");
    story = story.untaint(1300, "small-4").runs(700, "web-5", "small-4").runs(702, "web-6", "small-4");
    story = story.node_unready(1000, 5, "small").ready(1360, "small-5", true);
    let ends = SubjectChange::Exited { code: None, signal: Some(9) };
    let ends = What::Subject(SubjectEvent { replica: 0, change: ends });
    story = story.killed(1500, 0).what(1500, ends).leads(1518, "ca-1").started(1530, 0).health(1534, 503);
    story = story.health(1544, 200);
    for pod in 7..=12 {
        story = story.pending(1801, &format!("web-{pod}"));
    }
    story = story.order_refused(1812, "large", 20, 412).order_refused(1822, "large", 20, 412);
    story = story.order_slow(1840, "large", 20).server_as(1862, 20, "large", "running");
    story = story.node_unready(1900, 20, "large").ready(1990, "large-20", true);
    for pod in 7..=12 {
        story = story.runs(1995 + pod, &format!("web-{pod}"), "large-20");
    }
    for pod in 2..=12 {
        story = story.pod_gone(2705, &format!("web-{pod}"));
    }
    story = story.evict(3355, "kube-1", 429).evict(3365, "kube-1", 429).ready(3380, "small-3", false);
    for (second, id) in [(3350, 5), (3362, 4), (3400, 3)] {
        story = story.removal(second, id);
    }
    story = story.taint(4200, "large-20", "ToBeDeletedByClusterAutoscaler").give_back(4290, 20);
    story = story.enters(4310, Phase::Heal).enters(4320, Phase::Converge).enters(5350, Phase::Account);
    for loop_ in 0..180 {
        story = story.status(loop_ * 30 + 5);
    }
    let story = story.counted(5390, 2, 38).end(5400);
    let path = "suites/incidents/s3-the-answer-is-lost.yaml";
    let title = "A server whose order was never answered is not bought a second time";
    read(story, path, title, &["SU-01", "SU-02", "MM-01", "SD-01", "SF-04"])
}

/// A pool of so many servers, one of them too many.
pub(crate) fn big(servers: usize) -> History {
    let servers = u64::try_from(servers).unwrap();
    let most = u32::try_from(servers - 1).unwrap();
    let mut story = Story::new().pool("small", 0, most, 4000).pool("other", 0, most, 4000);
    story = story.enters(0, Phase::Prepare).enters(20, Phase::Act);
    for id in 1..=servers {
        let second = 60 + id * 2;
        let (pod, node) = (format!("web-{id}"), format!("small-{id}"));
        story = story.pending(50, &pod).order(second, "small", id).node_unready(second + 40, id, "small");
        story = story.ready(second + 70, &node, true).runs(second + 75, &pod, &node);
        if id % 3 == 0 {
            story = story.pod_gone(second + 2000, &pod).removal(second + 2700, id);
        }
    }
    let change = SubjectChange::Paused;
    let story = story.what(3000, What::Subject(SubjectEvent { replica: 0, change }));
    let story = story.call(900, Api::Kubernetes, "GET", "/api/v1/pods", |call| call.status = 503);
    read(story.counted(5000, 0, 9999).end(5000), "suites/large.yaml", "Many servers", &["MM-01", "SU-02"])
}

/// What came out, told by hand: a report does not depend on what checks think of a story.
pub(crate) fn judged(verdicts: Vec<(&'static str, Outcome)>) -> Judgement {
    let mut judged: Vec<Judged> = verdicts
        .into_iter()
        .map(|(code, outcome)| {
            let code = Code::new(code);
            let expectation = catalogue().into_iter().find(|one| one.code == code).unwrap();
            let (promise, level) = (expectation.promise.to_owned(), Some(expectation.level));
            Judged { code: code.into(), promise, level, asked: true, outcome }
        })
        .collect();
    judged.sort_by(|one, other| one.code.cmp(&other.code));
    Judgement { judged }
}

pub(crate) fn held(exercised: usize) -> Outcome {
    Outcome::Judged(Verdict::Held { exercised })
}

fn violated(exercised: usize, evidence: Vec<Evidence>) -> Outcome {
    Outcome::Judged(Verdict::Violated { exercised, evidence })
}

/// The order and the server of a name.
fn purchase(history: &History, server: &str) -> Vec<usize> {
    let bought = |what: &What| match what {
        What::Server(event) => event.name == server,
        What::Call(call) => call.request.as_ref().is_some_and(|body| body["name"] == server),
        _ => false,
    };
    (0..history.events.len()).filter(|event| bought(&history.events[*event].what)).take(2).collect()
}

/// The last that was seen of a pod.
fn last_of(history: &History, pod: &str) -> Vec<usize> {
    let speaks = |what: &What| matches!(what, What::Object(object) if object.name == pod);
    (0..history.events.len()).rfind(|event| speaks(&history.events[*event].what)).into_iter().collect()
}

/// What came out of [`rich()`].
pub(crate) fn rich_judgement(history: &History) -> Judgement {
    let says = "server 5 made 4 of at most 3 in small".to_owned();
    let many = Evidence { says, events: purchase(history, "small-5") };
    let says = "large-20 had nothing on it for 955 s, and its server was not given back".to_owned();
    let empty = Evidence { says, events: last_of(history, "web-7") };
    let unknown = Verdict::Unknown { why: "the fault quiet never hurt anybody".into() };
    judged(vec![
        ("MM-01", violated(7, vec![many])),
        ("MM-02", Outcome::NotApplicable("it is promised from 9.0.0, and the subject is 1.36.1".into())),
        ("SD-01", violated(2, vec![empty])),
        ("SD-02", held(4)),
        ("SU-01", Outcome::Judged(unknown)),
        ("SU-02", held(1)),
    ])
}

/// What came out of [`big()`].
pub(crate) fn big_judgement(history: &History, servers: usize) -> Judgement {
    let case = |id: usize| {
        let events = (id - 30..=id).flat_map(|id| purchase(history, &format!("small-{id}"))).collect();
        Evidence { says: format!("small-{id} was ordered though 30 were on their way"), events }
    };
    let last = format!("server {servers} made {servers} of at most {} in small", servers - 1);
    let last = Evidence { says: last, events: purchase(history, &format!("small-{servers}")) };
    let twice = (servers - 17..=servers).map(case).collect();
    judged(vec![("MM-01", violated(servers, vec![last])), ("SU-02", violated(servers, twice))])
}
