//! `scaleproof run`: scenarios against a subject, one after the other, and a verdict for each.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use mock_clock::{Clock as _, IdleSkip, Mode, VirtualClock};

use super::check::{exit, reports, write};
use super::{complain, files, say};
use crate::check::judge;
use crate::cloud;
use crate::exit::Exit;
use crate::history::{
    ClusterFacts, Event, Header, MachineFacts, ScenarioFacts, StepChange, SubjectFacts, What, file,
};
use crate::plan;
use crate::report::text::{self, Paint};
use crate::report::{Standing, Telling, html};
use crate::run::{Order, RunError, Watcher, run as play};
use crate::subject::{Profile, digest, digest_of, hosts, told_version};
use crate::terms::Version;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof run
  scaleproof run suites/incidents
  scaleproof run suites/conformance/scale-down --subject cluster-autoscaler-hetzner --binary ./cluster-autoscaler
  scaleproof run suites/incidents/s1-minimum-with-the-flag.yaml --seed 7 --report report";

/// The word by which a profile names the autoscaler that comes along.
pub(super) const MOCK: &str = "mock-autoscaler";
/// What watching for idleness may cost: a run has nothing better to do with a processor.
const WATCH_PERCENT: u32 = 50;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Scenarios, or folders with scenarios
    #[arg(default_value = "suites/incidents", value_name = "FILE")]
    scenarios: Vec<PathBuf>,
    /// The profile of the subject: a path, or the name of one under fixtures/autoscalers
    #[arg(long, value_name = "PROFILE", default_value = "mock-autoscaler-hetzner")]
    subject: String,
    /// The subject's program, instead of the one its profile names
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// What everything is drawn from; drawn and told if left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How time passes: idle-skip, real, or so many times as fast as real time
    #[arg(long, value_name = "MODE", default_value = "idle-skip", value_parser = mode)]
    time: Mode,
    /// Run each scenario so often, with one seed after the other
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u64,
    /// Where histories and logs are written; a folder for temporary files, if left out
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

fn mode(text: &str) -> Result<Mode, String> {
    let mode: Mode = text.parse().map_err(|e: mock_clock::RateError| format!("failed to {e}"))?;
    Ok(match mode {
        Mode::IdleSkip(settings) => Mode::IdleSkip(IdleSkip { watch_percent: WATCH_PERCENT, ..settings }),
        other => other,
    })
}

/// Who is under test, found and known.
struct Subject {
    profile: Profile,
    program: PathBuf,
    before: Vec<String>,
    version: Option<Version>,
    digest: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Exit> {
    let paths = files::below(&arguments.scenarios)?;
    // All are read first, so that a mistake in the last is told before the first has run.
    let scenarios: Vec<_> = paths.iter().map(|path| Ok((path, files::scenario(path)?))).collect();
    if scenarios.iter().any(Result::is_err) {
        return Err(Exit::BadInput);
    }
    let scenarios: Vec<_> = scenarios.into_iter().filter_map(Result::<_, Exit>::ok).collect();
    if scenarios.iter().any(|(_, scenario)| scenario.given.replicas > 1) {
        // Where it cannot be, the run says so.
        hosts::ask_for();
    }
    let subject = subject(arguments)?;
    let first = arguments.seed.unwrap_or_else(drawn_seed);
    let directory = arguments
        .report
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("scaleproof-{}", std::process::id())));
    say(&format!(
        "{} {} against {} scenarios, seed {first}; histories in {}",
        subject.profile.name,
        subject.version.map_or("of an unknown version".to_owned(), |version| version.to_string()),
        scenarios.len(),
        directory.display()
    ))?;
    let mut tellings = Vec::new();
    'all: for seed in first..first.saturating_add(arguments.repeat) {
        for (path, scenario) in &scenarios {
            let one = One { arguments, subject: &subject, path, seed, directory: &directory };
            let telling = one.run(scenario)?;
            let given_up = telling.as_ref().is_some_and(|telling| telling.cut_short.is_some());
            tellings.extend(telling);
            // Whoever interrupts one run does not want the next.
            if given_up {
                break 'all;
            }
        }
    }
    if arguments.report.is_some() {
        reports(&directory, &tellings)?;
    }
    if tellings.len() > 1 {
        say(&format!("\n{}", text::table(&tellings, paint())))?;
    }
    let exit = exit(Standing::of_all(&tellings));
    say(&format!("\nexit code {}: {}", exit.code(), exit.meaning()))?;
    Ok(exit)
}

/// Colours are for terminals.
fn paint() -> Paint {
    if std::io::stdout().is_terminal() { Paint::Ansi } else { Paint::Plain }
}

fn drawn_seed() -> u64 {
    VirtualClock::start(Mode::Real, None).map_or(1, |clock| clock.now().unix_nanos() / 1_000 % 1_000_000)
}

fn subject(arguments: &Arguments) -> Result<Subject, Exit> {
    let profile = files::profile(&arguments.subject)?;
    let named = arguments.binary.clone().or_else(|| profile.binary.as_ref().map(PathBuf::from));
    let Some(named) = named else {
        complain(&format!(
            "error: the profile {} names no program: name one with --binary PATH",
            profile.name
        ));
        return Err(Exit::BadInput);
    };
    let (program, before) = if named == Path::new(MOCK) {
        let own = std::env::current_exe().map_err(|e| {
            complain(&format!("error: failed to find the program that runs: {e}"));
            Exit::Bug
        })?;
        (own, vec![MOCK.to_owned()])
    } else {
        (found(&named)?, Vec::new())
    };
    let asked: Vec<String> = before.iter().chain(&profile.version_arguments).cloned().collect();
    let asks = !profile.version_arguments.is_empty();
    let version = profile.version.or_else(|| asks.then(|| told_version(&program, &asked)).flatten());
    let digest = digest(&program).ok();
    Ok(Subject { profile: profile.at(version), program, before, version, digest })
}

/// A program by its path, or by its name as a shell finds it.
fn found(named: &Path) -> Result<PathBuf, Exit> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let candidates: Vec<PathBuf> = if named.components().count() > 1 {
        vec![named.to_owned()]
    } else {
        std::env::split_paths(&search).map(|folder| folder.join(named)).collect()
    };
    let program =
        candidates.into_iter().find(|path| path.is_file()).and_then(|path| path.canonicalize().ok());
    program.ok_or_else(|| {
        complain(&format!(
            "error: failed to find the program {}: build or download the autoscaler, and name it with --binary PATH",
            named.display()
        ));
        Exit::Missing
    })
}

/// One scenario with one seed.
struct One<'a> {
    arguments: &'a Arguments,
    subject: &'a Subject,
    path: &'a Path,
    seed: u64,
    directory: &'a Path,
}

impl One<'_> {
    /// Runs it and tells; nothing if it is not about this subject.
    fn run(&self, scenario: &crate::scenario::Scenario) -> Result<Option<Telling>, Exit> {
        let title = self.path.display();
        let plan = match plan::make(scenario, &self.subject.profile, self.seed, &cloud::room) {
            Ok(plan) => plan,
            Err(error) if error.is_about_subject() => {
                say(&format!("not applicable {title}: {error}"))?;
                return Ok(None);
            }
            Err(error) => {
                complain(&format!("error: {title}: failed to {error}"));
                return Err(Exit::BadInput);
            }
        };
        let stem =
            self.path.file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy().into_owned());
        let directory = self.directory.join(format!("{stem}-{}", self.seed));
        std::fs::create_dir_all(&directory).map_err(|e| {
            complain(&format!("error: failed to make the folder {}: {e}", directory.display()));
            Exit::Missing
        })?;
        let clock = VirtualClock::start(self.arguments.time, None).map_err(|e| {
            complain(&format!("error: failed to {e}"));
            Exit::Missing
        })?;
        let header = self.header(scenario, &plan)?;
        let order = Order {
            plan,
            profile: self.subject.profile.clone(),
            program: self.subject.program.clone(),
            before: self.subject.before.clone(),
            cluster: crate::cluster::Choice::default(),
            header,
            directory: directory.canonicalize().unwrap_or(directory),
        };
        let order_directory = order.directory.clone();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|e| {
            complain(&format!("error: failed to start: {e}"));
            Exit::Missing
        })?;
        let began = clock.now();
        let done = runtime.block_on(play(clock.clone(), order, Some(progress(began)), interrupt()));
        let history = match done {
            Ok(history) => history,
            Err(RunError::Subject(e)) => {
                complain(&format!("error: {title}: failed to {e}"));
                return Err(if e.is_of_machine() { Exit::Missing } else { Exit::BadInput });
            }
            Err(e) => {
                complain(&format!("error: {title}: failed to {e}"));
                return Err(Exit::Bug);
            }
        };
        let stored = order_directory.join("history.jsonl");
        let telling = Telling::of(&history, &judge(&history), Some(&stored.to_string_lossy()));
        if self.arguments.report.is_some() {
            write(&order_directory, "timeline.html", &html::page(&history, &telling))?;
        }
        say(&text::run(&telling, paint()))?;
        Ok(Some(telling))
    }

    fn header(&self, scenario: &crate::scenario::Scenario, plan: &plan::Plan) -> Result<Header, Exit> {
        let text = files::text(self.path)?;
        let subject = self.subject;
        let options =
            plan.options.iter().map(|(option, value)| (option.to_string(), value.clone())).collect();
        let deviations =
            plan.timers.iter().filter(|(timer, period)| subject.profile.timers.get(timer) != Some(period));
        let deviations = deviations.map(|(timer, period)| format!("{timer} is {period}"));
        Ok(Header {
            format: file::FORMAT,
            scaleproof: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: ScenarioFacts {
                path: self.path.display().to_string(),
                title: scenario.title.clone(),
                digest: digest_of(&text),
                expect: scenario.expect.clone(),
                convicts: scenario.convicts.clone(),
            },
            seed: self.seed,
            plan: serde_json::to_value(plan).unwrap_or_default(),
            subject: SubjectFacts {
                profile: subject.profile.name.clone(),
                provider: subject.profile.provider,
                version: subject.version,
                digest: subject.digest.clone(),
                command: vec![subject.program.display().to_string()],
                environment: std::collections::BTreeMap::new(),
                replicas: plan.replicas,
                timers: plan.timers.clone(),
                options,
                deviations: subject.profile.deviations.iter().cloned().chain(deviations).collect(),
            },
            pools: plan.pools.clone(),
            cluster: ClusterFacts { kind: "embedded".to_owned(), version: "v1.35".to_owned() },
            time: self.arguments.time.to_string(),
            began: mock_clock::Time::EPOCH,
            machine: MachineFacts { system: system(), processors: processors() },
        })
    }
}

/// Tells on a terminal what is going on.
fn progress(began: mock_clock::Time) -> Watcher {
    let terminal = std::io::stderr().is_terminal();
    Box::new(move |_, event: &Event| {
        if !terminal {
            return;
        }
        if let What::Step(step) = &event.what
            && step.change == StepChange::Begun
        {
            complain(&format!("    {:>6} s  {}", (event.at - began).as_secs(), step.says));
        }
    })
}

/// Waits for Ctrl-C, or for being told to end.
async fn interrupt() {
    let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    let Ok(mut terminate) = terminate else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

fn system() -> String {
    let uname = rustix::system::uname();
    format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy())
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}
