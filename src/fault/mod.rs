//! Faults: injuries with a code, a way back, and a proof that they hurt.
//!
//! A [`Ward`] keeps all faults of a run by the names that the plan gives them. Each is told to the history when it is
//! injected, when it first hurts somebody, and when it is healed. What is hurt and when is the plan's business.

mod catalogue;
mod edits;
mod nodes;

pub use catalogue::{Described, catalogue};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube::Client;
use mock_clock::VirtualClock;
use tokio::task::AbortHandle;

use crate::cloud::{Cloud, CloudError, TroubleId};
use crate::code::Code;
use crate::door::{Answer, CallMatch, Door, Fate, Injury};
use crate::history::{FaultChange, FaultEvent, Recorder, What};
use crate::plan::{FateSpec, FaultSpec, Span};
use crate::world::{Hurt, World};

/// What faults hurt.
#[derive(Clone)]
pub struct Victims {
    /// The clock of the run.
    pub clock: VirtualClock,
    /// The history.
    pub recorder: Recorder,
    /// The cluster, by the harness' own hand.
    pub client: Client,
    /// The world.
    pub world: Arc<World>,
    /// The cloud.
    pub cloud: Arc<Cloud>,
    /// The door.
    pub door: Arc<Door>,
}

/// All faults that hurt just now.
pub struct Ward {
    victims: Victims,
    wounds: BTreeMap<String, Wound>,
    never_bit: Vec<String>,
    /// Those that were healed and had hurt.
    bit: BTreeMap<String, u64>,
}

/// A fault that hurts, and how it is healed.
struct Wound {
    code: Code,
    kind: Kind,
}

enum Kind {
    World(Hurt),
    Rule,
    Cloud {
        id: TroubleId,
        watch: AbortHandle,
    },
    Task {
        task: AbortHandle,
        bites: Arc<AtomicU64>,
    },
    /// As a task, and what it has made is taken away.
    Attachments {
        task: AbortHandle,
        bites: Arc<AtomicU64>,
    },
}

impl Ward {
    /// Nobody is hurt yet.
    pub fn new(victims: Victims) -> Self {
        Self { victims, wounds: BTreeMap::new(), never_bit: Vec::new(), bit: BTreeMap::new() }
    }

    /// Injects a fault under a name.
    pub fn inject(&mut self, name: &str, says: &str, spec: &FaultSpec) -> Result<(), FaultError> {
        let code = catalogue::code(spec);
        self.tell(&code, name, FaultChange::Injected(says.to_owned()));
        let kind = self.hurt(&code, name, spec)?;
        self.wounds.insert(name.to_owned(), Wound { code, kind });
        Ok(())
    }

    /// Heals what has this name; if there is nothing, it has been healed already.
    pub fn heal(&mut self, name: &str) {
        let Some(Wound { code, kind }) = self.wounds.remove(name) else { return };
        let bites = match kind {
            Kind::World(hurt) => hurt.heal(),
            Kind::Rule => self.victims.door.rules().remove(name).unwrap_or(0),
            Kind::Cloud { id, watch } => {
                watch.abort();
                self.victims.cloud.heal(id)
            }
            Kind::Task { task, bites } => {
                task.abort();
                bites.load(Ordering::Relaxed)
            }
            Kind::Attachments { task, bites } => {
                task.abort();
                tokio::spawn(nodes::detach(self.victims.client.clone()));
                bites.load(Ordering::Relaxed)
            }
        };
        if bites == 0 {
            self.never_bit.push(name.to_owned());
        } else {
            *self.bit.entry(name.to_owned()).or_default() += bites;
        }
        self.tell(&code, name, FaultChange::Healed(bites));
    }

    /// Heals whatever still hurts.
    pub fn heal_all(&mut self) {
        let names: Vec<String> = self.wounds.keys().cloned().collect();
        for name in names {
            self.heal(&name);
        }
    }

    /// How often it has hurt somebody, up to now or before it was healed.
    pub fn bites(&self, name: &str) -> u64 {
        let healed = self.bit.get(name).copied().unwrap_or(0);
        self.wounds.get(name).map_or(healed, |wound| match &wound.kind {
            Kind::World(hurt) => hurt.bites(),
            Kind::Rule => self.victims.door.rules().bites(name).unwrap_or(0),
            Kind::Cloud { id, .. } => self.victims.cloud.bites(*id),
            Kind::Task { bites, .. } | Kind::Attachments { bites, .. } => bites.load(Ordering::Relaxed),
        })
    }

    /// Those that were healed without ever having hurt.
    pub fn never_bit(&self) -> &[String] {
        &self.never_bit
    }

    fn tell(&self, code: &Code, name: &str, change: FaultChange) {
        let event = FaultEvent { code: code.clone(), name: name.to_owned(), change };
        self.victims.recorder.record(What::Fault(event));
    }

    /// Tells the history whom it has hurt first.
    fn first_bite(&self, code: &Code, name: &str) -> impl Fn(&str) + Send + Sync + 'static {
        let (recorder, code, name) = (self.victims.recorder.clone(), code.clone(), name.to_owned());
        move |whom: &str| {
            let change = FaultChange::Bit(whom.to_owned());
            recorder.record(What::Fault(FaultEvent { code: code.clone(), name: name.clone(), change }));
        }
    }

    fn hurt(&self, code: &Code, name: &str, spec: &FaultSpec) -> Result<Kind, FaultError> {
        let world = &self.victims.world;
        let bite = Box::new(self.first_bite(code, name));
        Ok(match spec {
            FaultSpec::SlowKubelet { pool, stage, takes } => {
                Kind::World(world.slow_stage(pool.as_deref(), *stage, period(*takes)?, bite))
            }
            FaultSpec::NeverRegisters { pool } => Kind::World(world.never_registers(pool.as_deref(), bite)),
            FaultSpec::Flapping { pool, every } => Kind::World(world.flapping(pool, period(*every)?, bite)),
            FaultSpec::LostHeartbeats { pool, nodes } => {
                Kind::World(world.silent_kubelets(pool, *nodes, bite))
            }
            FaultSpec::NoCloudProvider { pool } => {
                Kind::World(world.no_cloud_provider(pool.as_deref(), bite))
            }
            FaultSpec::CloudControllerDown => Kind::World(world.controller_down(bite)),
            FaultSpec::PodNeverEnds(workload) => Kind::World(world.pod_never_ends(workload, bite)),
            FaultSpec::WorldClock { by_s } => Kind::World(world.wrong_clock(*by_s, bite)),
            FaultSpec::EvictionsRefused => {
                let on = CallMatch {
                    method: Some("POST".to_owned()),
                    path: Some("*/eviction".to_owned()),
                    ..CallMatch::default()
                };
                self.rule(name, Injury::new(on, Fate::Answer(Answer::of(429)), None), *bite)
            }
            FaultSpec::Calls { on, fate, first } => {
                let on = CallMatch {
                    to: on.to,
                    method: on.method.clone(),
                    path: on.path.clone(),
                    query: on.query.clone(),
                    replica: on.replica,
                };
                self.rule(name, Injury::new(on, fate_of(fate)?, *first), *bite)
            }
            FaultSpec::Cloud(trouble) => {
                let id = self.victims.cloud.hurt(trouble).map_err(FaultError::Cloud)?;
                let watch = tokio::spawn(watch_trouble(Arc::clone(&self.victims.cloud), id, bite));
                Kind::Cloud { id, watch: watch.abort_handle() }
            }
            FaultSpec::LeaseLeak { per_minute } => {
                let bites = Arc::new(AtomicU64::new(0));
                let task = edits::leak_leases(self.victims.clone(), *per_minute, Arc::clone(&bites), bite);
                Kind::Task { task: tokio::spawn(task).abort_handle(), bites }
            }
            FaultSpec::SlowClusterApi { pool, takes } => {
                Kind::World(world.slow_cluster_api(pool.as_deref(), period(*takes)?, bite))
            }
            FaultSpec::MachinesRefused { pool } => Kind::World(world.machines_refused(pool, bite)),
            FaultSpec::MachinesNeverCome { pool } => Kind::World(world.machines_withheld(pool, bite)),
            FaultSpec::MachinesFail { pool } => Kind::World(world.machines_fail(pool, bite)),
            FaultSpec::PausedGroup { pool } => Kind::World(world.paused_group(pool, bite)),
            FaultSpec::ApiGroupMissing(group) => {
                let on = CallMatch { path: Some(format!("/apis/{group}*")), ..CallMatch::default() };
                self.rule(name, Injury::new(on, Fate::Answer(Answer::of(404)), None), *bite)
            }
            FaultSpec::ZombieKubelets { pool } => Kind::World(world.zombie_kubelets(pool.as_deref(), bite)),
            FaultSpec::StuckAttachment { pool } => {
                let bites = Arc::new(AtomicU64::new(0));
                let task = nodes::attach(self.victims.clone(), pool.clone(), Arc::clone(&bites), bite);
                Kind::Attachments { task: tokio::spawn(task).abort_handle(), bites }
            }
            FaultSpec::TaintsByHand { pool, taint } => {
                let bites = Arc::new(AtomicU64::new(0));
                let task =
                    nodes::taint(self.victims.clone(), pool.clone(), taint.clone(), Arc::clone(&bites), bite);
                Kind::Task { task: tokio::spawn(task).abort_handle(), bites }
            }
            FaultSpec::Edits { kind, name, per_minute, what, by } => {
                let bites = Arc::new(AtomicU64::new(0));
                let editor = edits::Editor::new(kind, name.as_deref(), *per_minute, *what, *by)
                    .ok_or_else(|| FaultError::Kind(kind.clone()))?;
                let task = editor.edit(self.victims.clone(), Arc::clone(&bites), bite);
                Kind::Task { task: tokio::spawn(task).abort_handle(), bites }
            }
        })
    }

    fn rule(&self, name: &str, rule: Injury, bite: impl Fn(&str) + Send + Sync + 'static) -> Kind {
        self.victims.door.rules().install(name, rule, move |call| bite(&call.to_string()));
        Kind::Rule
    }
}

/// Waits until a trouble of the cloud has bitten.
async fn watch_trouble(cloud: Arc<Cloud>, id: TroubleId, bite: Box<impl Fn(&str)>) {
    let mut changes = cloud.changes();
    loop {
        if cloud.bites(id) > 0 {
            bite("a call, an order or a thing of the cloud");
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// In a plan all spans are periods.
fn period(span: Span) -> Result<std::time::Duration, FaultError> {
    match span {
        Span::Fixed(period) => Ok(period.0),
        Span::Timer { .. } => Err(FaultError::Unresolved),
    }
}

fn fate_of(fate: &FateSpec) -> Result<Fate, FaultError> {
    Ok(match fate {
        FateSpec::Delay(span) => Fate::Delay(period(*span)?),
        FateSpec::Answer { status, headers, body } => {
            Fate::Answer(Answer { status: *status, headers: headers.clone(), body: body.clone() })
        }
        FateSpec::DelayAnswer(span) => Fate::DelayAnswer(period(*span)?),
        FateSpec::Cut => Fate::Cut,
        FateSpec::Hang => Fate::Hang,
        FateSpec::LoseAnswer => Fate::LoseAnswer,
        FateSpec::Truncate(bytes) => Fate::Truncate(*bytes),
        FateSpec::SlowBody(bytes) => Fate::SlowBody(*bytes),
        FateSpec::StallWatch => Fate::StallWatch,
        FateSpec::DropWatch => Fate::DropWatch,
        FateSpec::Expire => Fate::Expire,
    })
}

/// Why a fault cannot be injected. Reads after "failed to".
#[derive(Debug)]
pub enum FaultError {
    /// The cloud does not take it.
    Cloud(CloudError),
    /// A span was not resolved by the plan, which is a bug.
    Unresolved,
    /// Nothing of this kind can be edited.
    Kind(String),
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cloud(e) => write!(f, "{e}"),
            Self::Unresolved => f.write_str("inject a fault: the plan has left a timer in it"),
            Self::Kind(kind) => {
                write!(
                    f,
                    "edit objects of the kind {kind}: known are {}",
                    edits::KINDS.map(|it| it.0).join(", ")
                )
            }
        }
    }
}

impl std::error::Error for FaultError {}
