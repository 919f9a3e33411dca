//! Scenario, profile and seed → plan: spans become periods, defaults become values, and what is drawn is drawn.

use std::time::Duration;

use super::draw::Draw;
use super::error::PlanError;
use super::resolve::Resolver;
use super::{Act, Plan, Planned, words};
use crate::scenario::{
    ByHand, CallMatch, Condition, DisruptionSpec, Expect, FaultSpec, FixedNode, GroupByHand, Hurt, Matter,
    PoolSpec, Scenario, Span, Step, SubjectDeed, Until,
};
use crate::subject::Profile;
use crate::terms::{
    Api, Disruption, KarpenterCloud, Period, Pool, Provider, Room, Stage, Taint, Timer, Timers, Version,
};

/// How long everything may take that has no bound of its own: to prepare, to settle, and to give an account.
const AROUND: Duration = Duration::from_secs(15 * 60);
/// How long a step may take beyond what it waits for.
const STEP: Duration = Duration::from_secs(10);
/// How long things may take to become good again, if a scenario does not say.
const CONVERGE: Duration = Duration::from_secs(5 * 60);
/// The longest run: a week. A longer one is a slip of the pen.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Makes the plan. `machine_room` says what a machine of the cloud has room for, by its name.
///
/// A subject that cannot be asked for what the scenario needs is an error that [says so](PlanError::is_about_subject):
/// the scenario is not about this subject, and to run it otherwise would test something else.
pub fn make(
    scenario: &Scenario,
    profile: &Profile,
    seed: u64,
    machine_room: &dyn Fn(&str) -> Option<Room>,
) -> Result<Plan, PlanError> {
    let given = &scenario.given;
    if let Some(option) = given.options.keys().find(|option| !profile.options.contains_key(option)) {
        let what = || format!("ask for {option}");
        return Err(too_old(profile, &[profile.since.options.get(option)], what)
            .unwrap_or_else(|| PlanError::Option { profile: profile.name.clone(), option: *option }));
    }
    if !given.subject.profiles.is_empty() && !given.subject.profiles.contains(&profile.name) {
        let meant = given.subject.profiles.join(", ");
        return Err(PlanError::Profile { profile: profile.name.clone(), meant });
    }
    if let Some((what, needs)) = foreign(scenario, profile) {
        return Err(PlanError::Provider { profile: profile.name.clone(), what, needs });
    }
    let timers = timers(scenario, profile)?;
    let spans = Resolver::new(profile, &timers);
    let mut draw = Draw::new(seed);
    let mut steps = Vec::new();
    for step in &scenario.steps {
        let act = act(step, &spans)?;
        steps.push(Planned { says: words::act(&act), act, seed: draw.number() });
    }
    let converge = scenario.converge.map_or(Ok(Period(CONVERGE)), |span| spans.period(span))?;
    let pools = given
        .pools
        .iter()
        .map(|(name, spec)| pool(name, spec, &spans, machine_room))
        .collect::<Result<_, _>>()?;
    Ok(Plan {
        seed,
        pools,
        fixed_nodes: given.fixed_nodes.clone().unwrap_or_else(|| vec![control_plane()]),
        workloads: given
            .workloads
            .iter()
            .map(|workload| spans.workload(workload))
            .collect::<Result<_, _>>()?,
        options: given.options.clone(),
        subject: given.subject.clone(),
        timers: timers.clone(),
        replicas: given.replicas,
        longest: longest(&steps, converge)?,
        steps,
        converge,
    })
}

/// What of a scenario there is not with this subject, and the provider that it needs.
fn foreign(scenario: &Scenario, profile: &Profile) -> Option<(&'static str, Provider)> {
    let pools = scenario.given.pools.values().any(PoolSpec::is_karpenters);
    let pools = pools.then_some(("`disruption`, `also` or `startup_taints` of a pool", Provider::Karpenter));
    let of_kwok = profile.karpenter.as_ref().is_some_and(|it| it.cloud == KarpenterCloud::Kwok);
    let registers = scenario.given.pools.values().any(|pool| !pool.registers_with.is_empty())
        || scenario.steps.iter().any(hurts_the_making_of_nodes);
    let registers = (registers && of_kwok).then_some(("kubelets that register nodes", Provider::Hetzner));
    let at_the_cloud = profile.karpenter.as_ref().is_some_and(|it| it.cloud == KarpenterCloud::Hetzner);
    let has = |needs| needs == profile.provider || needs == Provider::Hetzner && at_the_cloud;
    pools
        .into_iter()
        .chain(registers)
        .chain(scenario.steps.iter().filter_map(market))
        .find(|&(_, needs)| !has(needs))
}

/// Whether a step hurts machines before their nodes are introduced: where the subject makes nodes itself that hurts nobody.
fn hurts_the_making_of_nodes(step: &Step) -> bool {
    let Step::Hurt(Hurt { fault, .. }) = step else { return false };
    match fault {
        FaultSpec::SlowKubelet { stage, .. } => {
            matches!(stage, Stage::Boot | Stage::Register | Stage::ProviderId)
        }
        FaultSpec::NeverRegisters { .. }
        | FaultSpec::NoCloudProvider { .. }
        | FaultSpec::CloudControllerDown => true,
        _ => false,
    }
}

/// What a step is about, and the provider that it needs, if not everyone will do.
fn market(step: &Step) -> Option<(&'static str, Provider)> {
    let of_the_cloud = |on: &CallMatch| on.to == Some(Api::Cloud);
    Some(match step {
        Step::Cloud(_)
        | Step::Hurt(Hurt { fault: FaultSpec::Cloud(_), .. })
        | Step::Until(Until { condition: Condition::ServerStatus { .. }, .. }) => {
            ("the cloud", Provider::Hetzner)
        }
        Step::Hurt(Hurt { fault: FaultSpec::Calls { on, .. }, .. }) if of_the_cloud(on) => {
            ("calls to the cloud", Provider::Hetzner)
        }
        Step::Group(_)
        | Step::Hurt(Hurt {
            fault:
                FaultSpec::SlowClusterApi { .. }
                | FaultSpec::MachinesRefused { .. }
                | FaultSpec::MachinesNeverCome { .. }
                | FaultSpec::MachinesFail { .. }
                | FaultSpec::PausedGroup { .. },
            ..
        }) => ("machine deployments", Provider::Clusterapi),
        Step::Hurt(Hurt { fault: FaultSpec::Edits { kind, .. }, .. }) if kind.starts_with("Machine") => {
            ("objects of Cluster API", Provider::Clusterapi)
        }
        Step::Hurt(Hurt { fault: FaultSpec::Edits { kind, .. }, .. })
            if ["NodeClaim", "NodePool"].contains(&kind.as_str()) =>
        {
            ("objects of Karpenter", Provider::Karpenter)
        }
        Step::Expect(Expect { matter: Matter::Bill { .. }, .. }) => ("the bill", Provider::Hetzner),
        Step::Pool(_) => ("a pool that is an object", Provider::Karpenter),
        Step::Hurt(Hurt { fault: FaultSpec::ZombieKubelets { .. }, .. }) => {
            ("kubelets that outlive their node", Provider::Karpenter)
        }
        _ => return None,
    })
}

/// The timers of the profile, but for those that the scenario sets: these against those.
fn timers(scenario: &Scenario, profile: &Profile) -> Result<Timers, PlanError> {
    let defaults = Resolver::new(profile, &profile.timers);
    let mut timers = profile.timers.clone();
    for (&timer, span) in &scenario.given.timers {
        let period = defaults.period(*span)?;
        // What it is anyway need not be set.
        if profile.timers.get(&timer) != Some(&period) && !sets(profile, timer) {
            let since = [profile.since.timers.get(&timer), profile.since.timer_arguments.get(&timer)];
            return Err(too_old(profile, &since, || format!("set {timer} to {period}"))
                .unwrap_or_else(|| PlanError::SetTimer { profile: profile.name.clone(), timer, period }));
        }
        timers.insert(timer, period);
    }
    Ok(timers)
}

/// What there is to say of something that only later versions have, if this is an earlier one.
pub(super) fn too_old(
    profile: &Profile,
    since: &[Option<&Version>],
    what: impl FnOnce() -> String,
) -> Option<PlanError> {
    let version = profile.version?;
    let since = *since.iter().copied().flatten().max().filter(|since| version < **since)?;
    Some(PlanError::TooOld { profile: profile.name.clone(), what: what(), version, since })
}

fn sets(profile: &Profile, timer: Timer) -> bool {
    profile.timers.contains_key(&timer) && profile.sets(timer)
}

fn pool(
    name: &str,
    spec: &PoolSpec,
    spans: &Resolver<'_>,
    machine_room: &dyn Fn(&str) -> Option<Room>,
) -> Result<Pool, PlanError> {
    let unknown = || PlanError::Machine { pool: name.to_owned(), machine: spec.machine.clone() };
    Ok(Pool {
        name: name.to_owned(),
        machine: spec.machine.clone(),
        location: spec.location.clone(),
        min: spec.min,
        max: spec.max,
        labels: spec.labels.clone(),
        taints: spec.taints.clone(),
        priority: spec.priority,
        also: spec.also.clone(),
        startup_taints: spec.startup_taints.clone(),
        registers_with: spec.registers_with.clone(),
        disruption: spec
            .disruption
            .as_ref()
            .map(|disruption| disruption_of(disruption, spans))
            .transpose()?,
        initial: spec.initial,
        room: machine_room(&spec.machine).ok_or_else(unknown)?,
    })
}

fn disruption_of(spec: &DisruptionSpec, spans: &Resolver<'_>) -> Result<Disruption, PlanError> {
    let period = |span: Option<Span>| span.map(|span| spans.period(span)).transpose();
    Ok(Disruption {
        consolidate: spec.consolidate,
        after: period(spec.after)?,
        budgets: spec.budgets.clone(),
        expire_after: period(spec.expire_after)?,
        grace: period(spec.grace)?,
    })
}

/// The node that is there if nothing is said: nothing but system pods tolerates its taint.
fn control_plane() -> FixedNode {
    let role = "node-role.kubernetes.io/control-plane";
    FixedNode {
        name: "control-plane".to_owned(),
        cpu_milli: 2000,
        memory_mib: 4096,
        labels: [(role.to_owned(), String::new())].into(),
        taints: vec![Taint { key: role.to_owned(), value: String::new(), effect: "NoSchedule".to_owned() }],
        provider_id: None,
    }
}

fn act(step: &Step, spans: &Resolver<'_>) -> Result<Act, PlanError> {
    Ok(match step {
        Step::Deploy(workload) => Act::Deploy(spans.workload(workload)?),
        Step::Scale { workload, pods } => Act::Scale { workload: workload.clone(), pods: *pods },
        Step::Change(edit) => Act::Change(edit.clone()),
        Step::Remove(workload) => Act::Remove(workload.clone()),
        Step::Create(object) => Act::Create(object.clone()),
        Step::Delete(object) => Act::Delete(object.clone()),
        Step::Wait(span) => Act::Wait(spans.period(*span)?),
        Step::Until(Until { condition, at_most, may_fail }) => Act::Until {
            condition: spans.condition(condition)?,
            at_most: spans.period(*at_most)?,
            may_fail: *may_fail,
        },
        Step::Expect(Expect { matter, when, meanwhile }) => {
            let when = when.lasting(spans.fixed(when.span())?);
            Act::Expect(Expect { matter: matter.clone(), when, meanwhile: *meanwhile })
        }
        Step::Hurt(Hurt { name, fault, lasting }) => Act::Hurt {
            name: name.clone(),
            fault: spans.fault(fault)?,
            lasting: lasting.map(|span| spans.period(span)).transpose()?,
        },
        Step::Heal(name) => Act::Heal(name.clone()),
        Step::Node(ByHand { deed, pool }) => Act::Node { deed: deed.clone(), pool: pool.clone() },
        Step::Group(GroupByHand { deed, pool }) => Act::Group { deed: deed.clone(), pool: pool.clone() },
        Step::Pool(edit) => Act::Pool(edit.clone()),
        Step::Cloud(deed) => Act::Cloud(deed.clone()),
        Step::Subject(SubjectDeed::Pause(span)) => Act::Subject(SubjectDeed::Pause(spans.fixed(*span)?)),
        Step::Subject(deed) => Act::Subject(deed.clone()),
    })
}

fn longest(steps: &[Planned], Period(converge): Period) -> Result<Period, PlanError> {
    let bounds = steps.iter().map(|step| step.act.bound().0 + STEP);
    let sum = bounds.chain([converge, AROUND]).try_fold(Duration::ZERO, Duration::checked_add);
    match sum.filter(|sum| *sum <= LONGEST) {
        Some(sum) => Ok(Period(sum)),
        None => Err(PlanError::TooLong(Period(LONGEST))),
    }
}
