//! What holds for every plan, whatever the scenario and the seed.

use proptest::prelude::*;

use super::{Act, Plan, PlanError, make};
use crate::scenario::{
    self, ByHand, Condition, Expect, FaultSpec, Given, Hurt, Known, Matter, NodeDeed, PoolSpec, Scenario,
    Span, Stage, Step, SubjectDeed, Until, When,
};
use crate::subject::{self, Profile};
use crate::terms::{Period, Room, SubjectOption, Timer, Version};

const TIMERS: [Timer; 4] =
    [Timer::ScanInterval, Timer::UnneededTime, Timer::ProvisionTime, Timer::BackoffMax];

fn profile() -> Profile {
    let text = "name: some
provider: hetzner
timers: {scan_interval: 10s, unneeded_time: 10m, provision_time: 15m, backoff_max: 30m}
timer_arguments: {unneeded_time: [\"--unneeded={value}\"]}
options: {enforce_min: [\"--enforce={value}\"]}
";
    subject::read("some.yaml", text).unwrap()
}

fn read(text: &str) -> Scenario {
    scenario::read("some.yaml", text, Known::default()).unwrap()
}

#[expect(clippy::unnecessary_wraps, reason = "this is what a plan asks for")]
fn room(_: &str) -> Option<Room> {
    Some(Room { cpu_milli: 4000, memory_mib: 8192 })
}

fn plan(scenario: &Scenario, seed: u64) -> Result<Plan, PlanError> {
    make(scenario, &profile(), seed, &room)
}

fn span() -> impl Strategy<Value = Span> {
    let period = || (0..5000_u64).prop_map(|s| Period(std::time::Duration::from_secs(s)));
    prop_oneof![
        period().prop_map(Span::Fixed),
        (prop::sample::select(TIMERS.to_vec()), 0..4_u32, period(), period())
            .prop_map(|(timer, times, plus, minus)| Span::Timer { timer, times, plus, minus }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let fault = prop_oneof![
        span().prop_map(|takes| FaultSpec::SlowKubelet { pool: None, stage: Stage::Ready, takes }),
        Just(FaultSpec::EvictionsRefused),
    ];
    prop_oneof![
        span().prop_map(Step::Wait),
        span().prop_map(|at_most| Step::Until(Until {
            condition: Condition::Running("web".into()),
            at_most,
            may_fail: false
        })),
        (fault, prop::option::of(span())).prop_map(|(fault, lasting)| Step::Hurt(Hurt {
            name: "hurt".into(),
            fault,
            lasting
        })),
        span().prop_map(|span| Step::Expect(Expect {
            matter: Matter::Running("web".into()),
            when: When::Within(span),
            meanwhile: false
        })),
        Just(Step::Node(ByHand { deed: NodeDeed::Cordon, pool: "small".into() })),
        span().prop_map(|span| Step::Subject(SubjectDeed::Pause(span))),
    ]
}

prop_compose! {
    fn scenario()(steps in prop::collection::vec(step(), 0..12), converge in prop::option::of(span())) -> Scenario {
        let pool: PoolSpec = serde_json::from_value(serde_json::json!({"min": 0, "max": 3})).unwrap();
        let given = Given {
            pools: [("small".to_owned(), pool)].into(),
            fixed_nodes: None,
            options: [(SubjectOption::EnforceMin, "true".to_owned())].into(),
            timers: [].into(),
            subject: scenario::SubjectSpec::default(),
            replicas: 1,
            workloads: Vec::new(),
        };
        Scenario { title: "some".into(), about: String::new(), expect: Vec::new(), convicts: Vec::new(), given, steps, converge }
    }
}

fn is_fixed(act: &Act) -> bool {
    match act {
        Act::Hurt { fault: FaultSpec::SlowKubelet { takes: span, .. }, .. }
        | Act::Subject(SubjectDeed::Pause(span)) => matches!(span, Span::Fixed(_)),
        Act::Expect(expect) => matches!(expect.when.span(), Span::Fixed(_)),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_plan_is_made_again_byte_for_byte(scenario in scenario(), seed: u64, other: u64) {
        let Ok(made) = plan(&scenario, seed) else { return Ok(()) };
        let again = plan(&scenario, seed).unwrap();
        prop_assert_eq!(serde_json::to_string(&made).unwrap(), serde_json::to_string(&again).unwrap());
        prop_assert_eq!(made.to_string(), again.to_string());
        let seeds = |plan: &Plan| plan.steps.iter().map(|step| step.seed).collect::<Vec<_>>();
        let drawn = plan(&scenario, other).unwrap();
        prop_assert!(seed == other || made.steps.is_empty() || seeds(&made) != seeds(&drawn));
    }

    #[test]
    fn a_plan_is_bounded_and_depends_on_no_timer(scenario in scenario(), seed: u64) {
        match plan(&scenario, seed) {
            Ok(plan) => {
                let sum: std::time::Duration = plan.steps.iter().map(|step| step.act.bound().0).sum();
                prop_assert!(plan.longest.0 > sum + plan.converge.0 && plan.longest.0 < sum * 2 + plan.converge.0 * 2 + std::time::Duration::from_secs(3600));
                prop_assert!(plan.steps.iter().all(|step| is_fixed(&step.act) && step.act.least() <= step.act.bound()));
                let stored = serde_json::to_string(&plan).unwrap();
                prop_assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), plan);
            }
            Err(error) => prop_assert!(matches!(error, PlanError::BelowZero { .. } | PlanError::TooLong(_)), "{error}"),
        }
    }
}

#[test]
fn what_the_subject_cannot_be_asked_for_is_about_the_subject() {
    let scenario_with = |given: &str| {
        let text = format!(
            "title: some\nexpect: [SU-01]\ngiven:\n  pools: {{small: {{min: 0, max: 3}}}}\n  {given}\nsteps: []\n"
        );
        read(&text)
    };
    let with = |given: &str| plan(&scenario_with(given), 1);
    for (given, told) in [
        (
            "options: {expander: priority}",
            "ask for expander: profile some does not say how; add it to its `options`",
        ),
        (
            "timers: {scan_interval: 20s}",
            "set scan_interval to 20s: profile some does not say how; add it to its `timer_arguments`",
        ),
        (
            "timers: {unneeded_time: {timer: unready_time}}",
            "wait for unready_time: profile some has no such timer; add it to its `timers`",
        ),
        (
            "timers: {unready_time: 3m}",
            "set unready_time to 3m: profile some does not say how; add it to its `timer_arguments`",
        ),
    ] {
        let error = with(given).unwrap_err();
        assert_eq!(error.to_string(), told);
        assert!(error.is_about_subject());
    }
    let mut old = profile();
    old.since.timer_arguments.insert(Timer::UnneededTime, Version::new(1, 32, 1));
    old.since.timers.insert(Timer::BackoffMax, Version::new(1, 33, 0));
    old.since.options.insert(SubjectOption::EnforceMin, Version::new(1, 34, 0));
    for (given, told) in [
        ("timers: {unneeded_time: 3m}", "set unneeded_time to 3m: some 1.32.0 does not know it, 1.32.1 does"),
        (
            "timers: {provision_time: {timer: backoff_max}}",
            "wait for backoff_max: some 1.32.0 does not know it, 1.33.0 does",
        ),
        ("options: {enforce_min: true}", "ask for enforce_min: some 1.32.0 does not know it, 1.34.0 does"),
    ] {
        let scenario = scenario_with(given);
        let made = |version| make(&scenario, &old.clone().at(Some(version)), 1, &room);
        let error = made(Version::new(1, 32, 0)).unwrap_err();
        assert!(error.to_string() == told && error.is_about_subject(), "{error}");
        assert!(!made(Version::new(1, 34, 0)).is_err_and(|error| matches!(error, PlanError::TooOld { .. })));
    }
    // What it is anyway need not be set.
    assert!(with("timers: {scan_interval: 10s}").is_ok());
    let shorter = with("timers: {unneeded_time: {timer: scan_interval, times: 3}}").unwrap();
    assert_eq!(shorter.timers[&Timer::UnneededTime].to_string(), "30s");
    let below = with("timers: {unneeded_time: {timer: scan_interval, minus: 1m}}").unwrap_err();
    assert!(!below.is_about_subject(), "{below}");
    let nothing = make(
        &read("title: a\nexpect: []\ngiven: {pools: {a: {min: 0, max: 1}}}\nsteps: []\n"),
        &profile(),
        1,
        &|_| None,
    );
    assert_eq!(nothing.unwrap_err().to_string(), "plan pool a: the cloud has no machine of type cx33");
}

#[test]
fn words_about_what_runs_read_well() {
    let scenario = read(
        "title: some
expect: [SU-01]
given:
  pools: {small: {min: 1, max: 3, initial: 2}}
  subject: {arguments: [--v=6], environment: {HCLOUD_NETWORK: mine}, profiles: [some]}
steps:
  - hurt: {calls: {on: {to: cloud}, fate: {delay_answer: {timer: scan_interval, times: 2}}}}
  - deploy: {name: web}
  - change: {workload: web, pods: 2, budget: none, labels: {tier: gold, old: null}}
  - change: {workload: web, budget: {min_available: 1}}
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}
  - delete: {kind: ConfigMap, name: mine, namespace: kube-system}
  - until: {server_status: {pool: small, status: off}, at_most: 1m}
  - until: {running_for: {workload: web, lasting: {timer: scan_interval}}, at_most: 1m}
  - until: {bitten_times: {fault: calls, times: 3}, at_most: 1m}
",
    );
    let told = plan(&scenario, 7).unwrap().to_string();
    for line in [
        "  told --v=6",
        "  told HCLOUD_NETWORK=mine in its environment",
        "hurt calls: calls(fate: (delay_answer: 20s), on: (to: cloud))",
        "give web 2 pods, no budget, no label old, the label tier=gold",
        "give web a budget by which 1 must be there",
        "create ConfigMap mine by hand",
        "delete ConfigMap mine of kube-system by hand",
        "until a server of small is off, for at most 1m",
        "until all pods of web have run for 10s, for at most 1m",
        "until calls has hurt 3 times, for at most 1m",
    ] {
        assert!(told.contains(line), "{line} is missing in {told}");
    }
    let mut others = scenario;
    others.given.subject.profiles = vec!["other".to_owned()];
    let error = plan(&others, 7).unwrap_err();
    assert!(error.is_about_subject() && error.to_string().ends_with("it is about other"), "{error}");
}

#[test]
fn a_schedule_reads_well() {
    let scenario = read(
        "title: some
expect: [SU-01]
given:
  pools: {small: {min: 1, max: 3, initial: 2}}
  replicas: 2
  options: {enforce_min: true}
  workloads: [{name: agent, kind: daemon_set, cpu: 200m, memory: 128Mi}]
steps:
  - hurt: {slow_kubelet: {stage: network, takes: 4m, pool: small}, name: late, lasting: 10m}
  - deploy: {name: web, pods: 3, cpu: 2, memory: 1Gi}
  - until: {running: web, at_most: {timer: provision_time}}
  - wait: 1m
  - heal: late
  - hurt: {calls: {on: {to: cloud, method: POST}, fate: lose_answer, first: 1}}
  - node: {pool: small, annotate: {key: a, value: b}}
  - subject: {pause: 30s}
  - expect: {running: web, within: {timer: scan_interval}}
  - expect: {servers: {pool: small, count: {at_most: 3}}, throughout: 1m}
  - expect: {object: {kind: Node, condition: Ready}, never: 1m, meanwhile: true}
  - until: {gone: web, at_most: 1m, may_fail: true}
",
    );
    let schedule = "\
seed 7, 2 replicas of the subject
  asked for enforce_min: true
pools
  small: cx33 in fsn1 with 4000m and 8192Mi each, 1 to 3, 2 at the beginning
nodes of no pool
  control-plane: 2000m and 4096Mi
workloads
  agent (daemon set): 1 pod of 200m and 128Mi
steps
  T+0s                            hurt late: slow_kubelet(pool: small, stage: network, takes: 4m), lasting 10m
  T+0s                            deploy web (deployment): 3 pods of 2000m and 1024Mi
  T+0s                            until all pods of web run, for at most 15m
  T+0s … at most T+15m            wait for 1m
  T+1m … at most T+16m            heal late
  T+1m … at most T+16m            hurt calls: calls(fate: lose_answer, first: 1, on: (method: POST, to: cloud))
  T+1m … at most T+16m            annotate (a=b) a node of small
  T+1m … at most T+16m            pause the subject for 30s
  T+1m … at most T+16m            expect within 10s: all pods of web run
  T+1m … at most T+16m10s         expect throughout 1m: at most 3 servers of small
  T+2m … at most T+17m10s         expect never for 1m: Node has Ready, meanwhile
  T+2m … at most T+17m10s         until all pods of web are gone, for at most 1m, which need not be
  T+2m … at most T+18m10s         heal what hurts, and converge for at most 5m
the end at most at T+23m10s; the run is ended after 40m10s whatever happens";
    assert_eq!(plan(&scenario, 7).unwrap().to_string(), schedule);
}
