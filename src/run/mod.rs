//! The run: a plan and its parts become a history. The only orchestration there is.
//!
//! Phases follow each other: prepare, settle, act, heal, converge, account. Whatever happens is recorded where it
//! happens; here is decided what happens next. It judges nothing.

mod conditions;
mod deeds;
mod expected;
mod healing;
mod market;
mod objects;
mod replica;
mod settle;
mod stage;
mod workload;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mock_clock::{Clock as _, ClockError, Time, VirtualClock};

use crate::cloud::CloudError;
use crate::cluster::{Access, Choice, Cluster, ClusterError};
use crate::door::DoorError;
use crate::fault::FaultError;
use crate::history::file::HistoryError;
use crate::history::query::TIE;
use crate::history::{ClusterFacts, Header, History, LagEvent, Phase, Recorder, StepChange, StepEvent, What};
use crate::plan::{Act, Plan, Planned};
use crate::subject::{Circumstances, FillError, Profile, SubjectError};
use market::Wanted;
use stage::{Cast, Stage};

/// How often the harness tells how late it was.
const LAG_EVERY: Duration = Duration::from_secs(60);

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Order {
    /// The plan.
    pub plan: Plan,
    /// The profile of the subject.
    pub profile: Profile,
    /// Its program.
    pub program: PathBuf,
    /// Arguments before those of the profile: for a program that is several.
    pub before: Vec<String>,
    /// Where its Kubernetes API comes from.
    pub cluster: Choice,
    /// What the history begins with; the run fills in what it finds out.
    pub header: Header,
    /// Custom resource definitions that the profile brings along, as texts.
    pub definitions: Vec<String>,
    /// A directory for everything that is written, the history too.
    pub directory: PathBuf,
}

impl Order {
    /// What every replica is told.
    fn told_to_all(&self) -> Circumstances<'_> {
        let more = &self.plan.subject;
        Circumstances::of_all(&self.plan.pools, &self.plan.options, &self.plan.timers)
            .and(&more.arguments, &more.environment)
    }

    /// What the history begins with: all that is known before the subject is started.
    fn header(&self, began: Time, access: &Access) -> Result<Header, RunError> {
        let cluster = ClusterFacts { kind: self.cluster.to_string(), version: access.version.clone() };
        let mut header = Header { cluster, began, ..self.header.clone() };
        let filled = self.profile.fill(&self.told_to_all()).map_err(RunError::Fill)?;
        let program = self.program.display().to_string();
        let subject = &mut header.subject;
        subject.command =
            std::iter::once(program).chain(self.before.iter().cloned()).chain(filled.arguments).collect();
        subject.environment = filled.environment;
        subject.deviations.extend(replica::shared_host(self).map_err(RunError::Subject)?);
        Ok(header)
    }
}

/// Told of each event as it happens, with its number.
pub type Watcher = Box<dyn FnMut(usize, &crate::history::Event) + Send>;

/// Does what a plan says, and gives the history. An interrupted run gives the history so far, which says so.
pub async fn run(
    clock: VirtualClock,
    order: Order,
    mut watcher: Option<Watcher>,
    interrupted: impl Future<Output = ()> + Send,
) -> Result<History, RunError> {
    let mut cluster = order.cluster.cluster(order.plan.seed, &order.directory);
    let access = cluster.start(&clock).await.map_err(RunError::Cluster)?;
    let header = order.header(clock.now(), &access)?;
    let stamp = clock.clone();
    let now = move || {
        let real_us = u64::try_from(stamp.real_elapsed().as_micros()).unwrap_or(u64::MAX);
        (stamp.now(), real_us)
    };
    let recorder =
        Recorder::to_file(&order.directory.join("history.jsonl"), &header, now).map_err(RunError::History)?;
    let follower = recorder.follow();
    let told = tokio::spawn(async move {
        let mut follower = follower;
        while let Some((number, event)) = follower.next().await {
            if let Some(watcher) = watcher.as_mut() {
                watcher(number, &event);
            }
        }
    });
    let lag = tokio::spawn(tell_lag(clock.clone(), recorder.clone()));
    let cast = Cast::default();
    let done = {
        let mut play = std::pin::pin!(play(&clock, &order, &recorder, &cast, (cluster, &access)));
        let interrupted = std::pin::pin!(interrupted);
        tokio::select! {
            done = &mut play => done,
            () = interrupted => {
                // The parts of the run are dropped after this, one by one: the subject would seem to suffer.
                recorder.close();
                Err(RunError::Interrupted)
            }
            () = too_late(&clock) => {
                // Nothing of it can be judged any more.
                recorder.record(lateness(&clock));
                recorder.close();
                Err(RunError::Interrupted)
            }
        }
    };
    cast.end().await;
    lag.abort();
    if let Err(error) = &done
        && !matches!(error, RunError::Interrupted)
    {
        recorder.record(What::Trouble(format!("failed to {error}")));
    }
    if done.is_ok() {
        recorder.record(What::End);
        // The watcher has been told all by then.
        let _ = told.await;
    } else {
        told.abort();
    }
    match done {
        Ok(()) | Err(RunError::Interrupted) => Ok(recorder.history(header)),
        Err(e) => Err(e),
    }
}

/// Where a stage is on which nobody plays.
#[derive(Clone, Debug)]
pub struct Place {
    /// The kubeconfig of the cluster's administrator.
    pub kubeconfig: String,
    /// Where the cluster listens.
    pub cluster: String,
    /// Where the cloud listens, with the version of its API.
    pub cloud: String,
    /// The token that the cloud knows.
    pub token: String,
}

/// Sets the stage of a plan without the subject, says where it is, and keeps it until it is interrupted.
pub async fn stand(
    clock: &VirtualClock,
    plan: &Plan,
    mut cluster: Box<dyn Cluster>,
    stands: impl FnOnce(Place) + Send,
    interrupted: impl Future<Output = ()> + Send,
) -> Result<(), RunError> {
    let stamp = clock.clone();
    let recorder = Recorder::in_memory(move || (stamp.now(), 0));
    let cast = Cast::default();
    let mut interrupted = std::pin::pin!(interrupted);
    let setting = async {
        let access = cluster.start(clock).await.map_err(RunError::Cluster)?;
        Stage::set(clock, plan, &Wanted::default(), &recorder, &cast, (cluster, &access)).await
    };
    let stage = tokio::select! {
        stage = setting => stage?,
        () = &mut interrupted => return Ok(()),
    };
    stands(stage.place());
    interrupted.await;
    stage.strike().await;
    Ok(())
}

/// From the first phase to the last.
async fn play(
    clock: &VirtualClock,
    order: &Order,
    recorder: &Recorder,
    cast: &Cast,
    cluster: (Box<dyn Cluster>, &Access),
) -> Result<(), RunError> {
    recorder.record(What::Phase(Phase::Prepare));
    let mut stage = Stage::set(clock, &order.plan, &Wanted::of(order), recorder, cast, cluster).await?;
    stage.start(order).await?;
    recorder.record(What::Phase(Phase::Settle));
    match stage.settle(order).await {
        None => perform(&mut stage, clock, order, recorder).await?,
        // What a subject does that was never itself shows little.
        Some(missing) => recorder.record(What::Unsteady(format!("failed to {missing}"))),
    }
    // From here on nothing is judged: how late the harness was is told up to here.
    recorder.record(lateness(clock));
    recorder.record(What::Phase(Phase::Account));
    let account = stage.account();
    recorder.record(What::Account(account));
    stage.strike().await;
    Ok(())
}

/// The steps of the plan, and what follows them.
async fn perform(
    stage: &mut Stage,
    clock: &VirtualClock,
    order: &Order,
    recorder: &Recorder,
) -> Result<(), RunError> {
    recorder.record(What::Phase(Phase::Act));
    let last = clock.now() + order.plan.longest.0;
    for (number, planned) in order.plan.steps.iter().enumerate() {
        let step = |change| {
            let (says, may_fail) = (planned.says.clone(), planned.act.may_fail());
            recorder.record(What::Step(StepEvent { step: number, says, change, may_fail }));
        };
        step(StepChange::Begun);
        stage.tell_bill(&order.plan);
        let left = last - clock.now();
        let instead = act(stage, order, (number, planned), left).await?;
        stage.tell_bill(&order.plan);
        match instead {
            None => step(StepChange::Done),
            Some(instead) => step(StepChange::Overdue(instead)),
        }
    }
    recorder.record(What::Phase(Phase::Heal));
    stage.healing.ward().heal_all();
    recorder.record(What::Phase(Phase::Converge));
    clock.sleep(order.plan.converge.0).await;
    stage.tell_bill(&order.plan);
    Ok(())
}

/// Does one step; says what was there instead if what it waited for did not come.
async fn act(
    stage: &mut Stage,
    order: &Order,
    (number, planned): (usize, &Planned),
    left: Duration,
) -> Result<Option<String>, RunError> {
    match &planned.act {
        Act::Deploy(workload) => stage.deploy(workload).await?,
        Act::Scale { workload, pods } => stage.scale(workload, *pods).await?,
        Act::Change(edit) => return stage.change(edit).await,
        Act::Remove(workload) => stage.remove(workload).await?,
        Act::Create(object) => return stage.create(object).await,
        Act::Delete(object) => return stage.delete(object).await,
        Act::Wait(period) => drop(stage.clock.sleep(period.0.min(left)).await),
        Act::Until { condition, at_most, .. } => {
            return Ok(stage.until(condition, at_most.0.min(left)).await);
        }
        Act::Hurt { name, fault, lasting } => {
            let lasting = lasting.map(|lasting| lasting.0);
            stage.healing.inject(name, &planned.says, fault, lasting).map_err(RunError::Fault)?;
        }
        Act::Expect(expect) => stage.expect(number, expect, left).await,
        Act::Heal(name) => stage.healing.heal(name),
        Act::Node { deed, pool } => return stage.do_to_node(deed, pool, planned.seed).await,
        Act::Group { deed, pool } => stage.do_to_group(deed, pool).await?,
        Act::Pool(edit) => stage.edit_pool(edit).await?,
        Act::Cloud(deed) => {
            return Ok(stage.cloud.deed(deed).err().map(|e| format!("nothing was done: failed to {e}")));
        }
        Act::Subject(deed) => stage.do_to_subject(deed, order.profile.leader_lease().as_ref()).await,
    }
    Ok(None)
}

/// Tells now and then how late the harness itself was.
async fn tell_lag(clock: VirtualClock, recorder: Recorder) {
    loop {
        clock.sleep(LAG_EVERY).await;
        recorder.record(lateness(&clock));
    }
}

/// Returns when the harness was so late that nothing can be judged any more.
async fn too_late(clock: &VirtualClock) {
    loop {
        clock.sleep(LAG_EVERY).await;
        let lag = clock.lag();
        if lag.late_max.max(lag.starved_max) > TIE {
            return;
        }
    }
}

/// How late the harness itself was so far.
fn lateness(clock: &VirtualClock) -> What {
    let lag = clock.lag();
    let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    What::Lag(LagEvent { late_us: micros(lag.late_max), starved_us: micros(lag.starved_max) })
}

/// Why a run has not come to its end. Reads after "failed to".
#[derive(Debug)]
pub enum RunError {
    /// The clock.
    Clock(ClockError),
    /// The history cannot be written.
    History(HistoryError),
    /// The cluster does not start.
    Cluster(ClusterError),
    /// The cloud does not start, or refuses a deed of the plan.
    Cloud(CloudError),
    /// The door cannot be opened.
    Door(DoorError),
    /// The subject cannot be told what it must know.
    Fill(FillError),
    /// The subject cannot be started.
    Subject(SubjectError),
    /// The subject cannot be told of a pool.
    Pool(String),
    /// A fault cannot be injected.
    Fault(FaultError),
    /// The cluster refuses the harness itself.
    Kube(String, kube::Error),
    /// A file cannot be written.
    File(PathBuf, std::io::Error),
    /// Somebody wanted it to end.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(e) => write!(f, "{e}"),
            Self::History(e) => write!(f, "{e}"),
            Self::Cluster(e) => write!(f, "{e}"),
            Self::Cloud(e) => write!(f, "{e}"),
            Self::Door(e) => write!(f, "{e}"),
            Self::Fill(e) => write!(f, "{e}"),
            Self::Subject(e) => write!(f, "{e}"),
            Self::Pool(why) => f.write_str(why),
            Self::Fault(e) => write!(f, "{e}"),
            Self::Kube(what, e) => write!(f, "{what}: {e}"),
            Self::File(path, e) => write!(f, "write {}: {e}", path.display()),
            Self::Interrupted => f.write_str("go on: it was interrupted"),
        }
    }
}

impl std::error::Error for RunError {}
