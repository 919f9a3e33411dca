//! One scenario with one seed, in a process of its own: that is what has a clock, a cluster and a door. It is told
//! what to do on its standard input, and tells how it goes line by line on its standard output, to [`super::abreast`].

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use mock_clock::{IdleSkip, Mode, VirtualClock};
use serde::{Deserialize, Serialize};

use super::subject::Subject;
use crate::check::judge;
use crate::cli::check::write;
use crate::cli::files;
use crate::cli::interruption::Interruption;
use crate::cloud;
use crate::exit::Exit;
use crate::history::{ClusterFacts, Event, Header, MachineFacts, ScenarioFacts, SubjectFacts, file};
use crate::plan::{self, Plan};
use crate::report::{Follower, Progress, Telling, html};
use crate::run::{Order, RunError, Watcher, run as play};
use crate::scenario::Scenario;
use crate::subject::{digest_of, hosts};

/// The word by which this program is told to do one.
pub(in crate::cli) const WORD: &str = "errand";
/// What watching for idleness may cost: a run has nothing better to do with a processor.
const WATCH_PERCENT: u32 = 50;
/// How it goes is told so often, in real microseconds, and whenever something begins.
const TELL_EVERY_US: u64 = 100_000;

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Errand {
    /// The file of the scenario, as it was given.
    pub(super) scenario: PathBuf,
    /// What everything is drawn from.
    pub(super) seed: u64,
    /// Who is under test.
    pub(super) subject: Subject,
    /// Where the Kubernetes API comes from.
    pub(super) cluster: String,
    /// How time passes.
    pub(super) time: String,
    /// Where it writes.
    pub(super) directory: PathBuf,
    /// How many replicas of the subject there will be.
    pub(super) replicas: u32,
    /// Whether it draws the timeline as well.
    pub(super) timeline: bool,
    /// Whether anybody looks at how it goes.
    pub(super) live: bool,
    /// Who waits for it: without that one it is of no use.
    pub(super) parent: u32,
}

/// What it tells, a line each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// How it goes.
    Going(Progress),
    /// What came out.
    Told(Box<Telling>),
    /// It could not be done: the exit code, and why.
    Failed(u8, String),
}

/// Does the one that standard input tells of.
pub(in crate::cli) fn main() -> Exit {
    let mut text = String::new();
    let errand = std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| e.to_string())
        .and_then(|_| serde_json::from_str::<Errand>(&text).map_err(|e| e.to_string()));
    let done = errand.map_err(|why| (Exit::Bug, format!("read the errand: {why}"))).and_then(|errand| {
        if errand.replicas > 1 {
            // Where it cannot be, the run says so. It comes first: it changes who this process is.
            hosts::ask_for();
        }
        stay_with(errand.parent)?;
        errand.run()
    });
    match done {
        Ok(telling) => {
            tell(&Word::Told(Box::new(telling)));
            Exit::Held
        }
        Err((exit, why)) => {
            tell(&Word::Failed(exit.code(), why));
            exit
        }
    }
}

/// Ends, in good order, when whoever waits for it has ended.
fn stay_with(parent: u32) -> Result<(), Failure> {
    let signal = Some(rustix::process::Signal::TERM);
    rustix::process::set_parent_process_death_signal(signal)
        .map_err(|e| (Exit::Bug, format!("be told of the end of the program: {e}")))?;
    if std::os::unix::process::parent_id() == parent {
        Ok(())
    } else {
        Err((Exit::Unknown, "go on: whoever wanted it has ended".to_owned()))
    }
}

fn tell(word: &Word) {
    let mut out = std::io::stdout().lock();
    let line = serde_json::to_string(word).unwrap_or_default();
    // Whoever has ended meanwhile does not listen, and has seen to it that this ends too.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Why it could not be done. Reads after "failed to".
type Failure = (Exit, String);

impl Errand {
    fn run(&self) -> Result<Telling, Failure> {
        let bad = |_| (Exit::BadInput, "read what has been read before: has a file changed?".to_owned());
        let scenario = files::scenario(&self.scenario).map_err(bad)?;
        let (_, text) = files::text(&self.scenario).map_err(bad)?;
        let profile = &self.subject.profile;
        let plan = plan::make(&scenario, profile, self.seed, &cloud::room)
            .map_err(|e| (Exit::BadInput, e.to_string()))?;
        let mode = mode(&self.time).map_err(|e| (Exit::BadInput, e))?;
        let clock = VirtualClock::start(mode, None).map_err(|e| (Exit::Missing, e.to_string()))?;
        let order = Order {
            header: self.header(&scenario, &digest_of(&text), &plan),
            plan,
            profile: profile.clone(),
            program: self.subject.program.clone(),
            before: self.subject.before.clone(),
            cluster: self.cluster.parse().map_err(|e| (Exit::BadInput, e))?,
            definitions: self.subject.definitions.clone(),
            directory: self.directory.clone(),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|e| (Exit::Missing, format!("start: {e}")))?;
        let watcher = self.live.then(|| watcher(&self.scenario.to_string_lossy()));
        let done = runtime.block_on(play(clock, order, watcher, interrupted()));
        let history = done.map_err(|e| match e {
            e @ RunError::Cluster(_) => (Exit::Missing, e.to_string()),
            RunError::Subject(e) if e.is_of_machine() => (Exit::Missing, e.to_string()),
            RunError::Subject(e) => (Exit::BadInput, e.to_string()),
            e => (Exit::Bug, e.to_string()),
        })?;
        let stored = self.directory.join("history.jsonl");
        let telling = Telling::of_wrong_subject(&history, &judge(&history), Some(&stored.to_string_lossy()));
        if self.timeline {
            let written = write(&self.directory, "timeline.html", &html::page(&history, &telling));
            written.map_err(|exit| (exit, "draw the timeline".to_owned()))?;
        }
        Ok(telling)
    }

    fn header(&self, scenario: &Scenario, digest: &str, plan: &Plan) -> Header {
        let subject = &self.subject;
        let options =
            plan.options.iter().map(|(option, value)| (option.to_string(), value.clone())).collect();
        let deviations =
            plan.timers.iter().filter(|(timer, period)| subject.profile.timers.get(timer) != Some(period));
        let deviations = deviations.map(|(timer, period)| format!("{timer} is {period}"));
        let more = plan.subject.arguments.iter().map(|argument| format!("it is told {argument}"));
        let variables = plan.subject.environment.iter();
        let more = more.chain(variables.map(|(name, value)| format!("it is told {name}={value}")));
        Header {
            format: file::FORMAT,
            scaleproof: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: ScenarioFacts {
                path: self.scenario.display().to_string(),
                title: scenario.title.clone(),
                digest: digest.to_owned(),
                expect: scenario.expect.clone(),
                convicts: scenario.convicts.clone(),
            },
            seed: self.seed,
            plan: serde_json::to_value(plan).unwrap_or_default(),
            subject: SubjectFacts {
                profile: subject.profile.name.clone(),
                profile_path: (subject.named != subject.profile.name).then(|| subject.named.clone()),
                profile_digest: Some(subject.profile_digest.clone()),
                provider: subject.profile.provider,
                version: subject.version,
                digest: subject.digest.clone(),
                command: vec![subject.program.display().to_string()],
                environment: BTreeMap::new(),
                replicas: plan.replicas,
                timers: plan.timers.clone(),
                options,
                deviations: subject
                    .profile
                    .deviations
                    .iter()
                    .cloned()
                    .chain(deviations)
                    .chain(more)
                    .collect(),
            },
            pools: plan.pools.clone(),
            cluster: ClusterFacts { kind: self.cluster.clone(), version: String::new() },
            time: self.time.clone(),
            began: mock_clock::Time::EPOCH,
            machine: MachineFacts { system: system(), processors: super::processors() },
        }
    }
}

async fn interrupted() {
    Interruption::listen().next().await;
}

/// How time passes, by its word.
pub(super) fn mode(text: &str) -> Result<Mode, String> {
    let mode: Mode = text.parse().map_err(|e: mock_clock::RateError| format!("failed to {e}"))?;
    Ok(match mode {
        Mode::IdleSkip(settings) => Mode::IdleSkip(IdleSkip { watch_percent: WATCH_PERCENT, ..settings }),
        other => other,
    })
}

/// Tells how it goes.
fn watcher(scenario: &str) -> Watcher {
    let mut follower = Follower::new(scenario);
    let mut told_us = 0;
    Box::new(move |_, event: &Event| {
        if follower.see(event) || event.real_us >= told_us + TELL_EVERY_US {
            told_us = event.real_us;
            tell(&Word::Going(follower.progress().clone()));
        }
    })
}

fn system() -> String {
    let uname = rustix::system::uname();
    format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy())
}
