//! `scaleproof run`: scenarios against a subject, several at a time, and a verdict for each.
//!
//! Each run is a process of its own ([`errand`](mod@errand)), so that runs neither share a clock nor wait for each other, and give the
//! same verdicts however many go [`abreast`]. Results are told in the order of the scenarios.

mod abreast;
mod again;
mod errand;
mod foreign;
mod live;
mod subject;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mock_clock::Mode;

use super::check::{exit, reports};
use super::paint::paint;
use super::{complain, files, flavour, say, seed};
use crate::cluster::{Choice, ClusterError};
use crate::exit::Exit;
use crate::report::text;
use crate::report::{Standing, Telling, stability};
use crate::scenario::Scenario;
use crate::terms::Version;
use abreast::{Done, Seen};
use errand::Errand;
use foreign::{Foreign, planned};
use live::Live;
use subject::Subject;

pub(super) use errand::{WORD as ERRAND, main as errand};
pub(super) use subject::MOCK;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof run
  scaleproof run suites
  scaleproof run incidents --subject cluster-autoscaler-hetzner --binary ./cluster-autoscaler --report report
  scaleproof run incidents/s1-a-minimum-with-the-flag --seed 7
  scaleproof run chaos --repeat 5 --jobs 2
  scaleproof run my-scenario.yaml

A scenario is a file or a folder here; what is not here is taken from those that come along, which `scaleproof suites` lists.
Of their names, `suites/` and `.yaml` may be left out.

Standard output holds the results: runs that did not hold in full, in the order of the scenarios, then a table. How the
runs go is told on standard error. With Ctrl-C nothing more begins, and what runs ends in good order.";

/// Why a scenario with `convicts` is not run.
const WRONG_ON_PURPOSE: &str = "it is for a subject that is wrong on purpose; --negative runs it";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Scenarios, or folders with scenarios: here, or of those that come along
    #[arg(default_value = "suites/incidents", value_name = "FILE")]
    scenarios: Vec<PathBuf>,
    /// The profile of the subject: a path, or the name of one that comes along; the autoscaler that comes along,
    /// in the flavour that each scenario is about, if left out
    #[arg(long, value_name = "PROFILE")]
    subject: Option<String>,
    /// The subject's program, instead of the one its profile names; without --subject, it must say itself what it is
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// The version of the subject, if neither its profile nor the program says it
    #[arg(long, value_name = "VERSION")]
    subject_version: Option<Version>,
    /// What everything is drawn from; drawn and told if left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the Kubernetes API comes from: embedded, existing=KUBECONFIG, or envtest=FOLDER with the programs of a real
    /// control plane
    #[arg(long, value_name = "CLUSTER", default_value = "embedded")]
    cluster: Choice,
    /// How time passes: idle-skip, real, or so many times as fast as real time
    #[arg(long, value_name = "MODE", default_value = "idle-skip", value_parser = errand::mode)]
    time: Mode,
    /// Run each scenario so often, with one seed after the other, and say which verdicts are not always the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// End with an exit code that is not 0 unless so many scenarios were judged on their claim: nothing that a run cannot put to
    /// the test passes
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_judged: usize,
    /// Run again, so often, what was not judged because this machine had too much to do; every attempt is told
    #[arg(long, value_name = "N", default_value_t = 0)]
    retry_late: u32,
    /// Run scenarios, too, that want their subject convicted (`convicts`), as one that is wrong on purpose should be
    #[arg(long)]
    negative: bool,
    /// Say of each scenario whether it would be run or is not applicable, and why not, and run none
    #[arg(long)]
    list: bool,
    /// So many runs at a time: as many as there are processors, if left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// Keep histories, logs and reports in this folder; without it only the histories of runs that did not hold are
    /// kept, in a folder for temporary files
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Exit> {
    if arguments.cluster.is_in_real_time() && arguments.time != Mode::Real {
        complain(&format!("error: failed to {}", ClusterError::NotRealTime));
        return Err(Exit::BadInput);
    }
    let scenarios = scenarios(&arguments.scenarios)?;
    let named = arguments.subject.as_deref();
    let told = arguments.binary.as_deref().filter(|_| named.is_none());
    let named = named.or(told.map(subject::told_by).transpose()?.flatten());
    let first = arguments.seed.unwrap_or_else(seed::drawn);
    let (parts, foreign) = cast(arguments, named, &scenarios, first)?;
    if arguments.list {
        return list(&scenarios, &foreign);
    }
    for line in foreign.lines() {
        say(&line)?;
    }
    if parts.is_empty() {
        complain("error: failed to find a scenario that is about this subject");
        return Err(Exit::BadInput);
    }
    let directory = directory(arguments)?;
    say(&format!("{}, seed {first}; histories in {}", who(&parts), directory.display()))?;
    let mut live = Live::new(parts.len() * usize::try_from(arguments.repeat).unwrap_or(usize::MAX));
    let errands = errands(arguments, &parts, first, &directory, live.looks())?;
    let jobs = arguments.jobs.unwrap_or_else(processors) as usize;
    let (mut done, mut interrupted) = side_by_side(arguments, &errands, jobs, &mut live)?;
    for attempt in 2..=arguments.retry_late.saturating_add(1) {
        let (numbers, again) = again::late(&errands, &done, attempt)?;
        if again.is_empty() || interrupted {
            break;
        }
        live.expect_more(again.len());
        // Fewer at a time: this machine had too much to do.
        let (more, stopped) = side_by_side(arguments, &again, jobs.div_ceil(2), &mut live)?;
        again::replace(&mut done, &numbers, more);
        interrupted = stopped;
    }
    drop(live);
    if arguments.report.is_none() {
        // It goes if nothing worth keeping is in it.
        let _ = std::fs::remove_dir(&directory);
    }
    finish(arguments, &directory, &errands, done, (foreign.count(), interrupted))
}

/// Does errands side by side, and tells of each as it is done; says also whether somebody has interrupted.
fn side_by_side(
    arguments: &Arguments,
    errands: &[Errand],
    jobs: usize,
    live: &mut Live,
) -> Result<(Vec<Done>, bool), Exit> {
    let mut interrupted = false;
    let done = abreast::all(&subject::own()?, errands, jobs, &mut |seen| match seen {
        Seen::Begun(number, errand) => live.begin(number, &errand.scenario.to_string_lossy(), errand.seed),
        Seen::Going(number, progress) => live.go_on(number, progress),
        Seen::Over(number) => live.end(number),
        Seen::Next(errand, done) => {
            next(live, errand, done, errands.len() == 1, arguments.report.is_none());
        }
        Seen::Interrupted => {
            interrupted = true;
            live.aside(|| complain("interrupted: what runs is ended; once more ends it at once"));
        }
    });
    let done = done.map_err(|e| {
        complain(&format!("error: failed to start: {e}"));
        Exit::Missing
    })?;
    Ok((done, interrupted))
}

/// All scenarios there are. All are read first, so that a mistake in the last is told before the first has run.
fn scenarios(named: &[PathBuf]) -> Result<Vec<(PathBuf, Scenario)>, Exit> {
    let paths = files::below(named)?;
    if paths.is_empty() {
        let named: Vec<String> = named.iter().map(|path| path.display().to_string()).collect();
        complain(&format!("error: failed to find a scenario: no YAML file is in {}", named.join(", ")));
        return Err(Exit::BadInput);
    }
    let read: Vec<_> = paths.into_iter().map(|path| Ok((files::scenario(&path)?, path))).collect();
    let all: Result<Vec<_>, Exit> = read.into_iter().collect();
    Ok(all?.into_iter().map(|(scenario, path)| (path, scenario)).collect())
}

/// A scenario, and who is asked.
struct Part {
    scenario: PathBuf,
    replicas: u32,
    subject: Subject,
}

/// Who is asked in which scenario: whoever was named; otherwise each scenario has the flavour that it is about. Scenarios
/// that are not about their subject are left out, and given beside the others.
fn cast(
    arguments: &Arguments,
    named: Option<&str>,
    scenarios: &[(PathBuf, Scenario)],
    seed: u64,
) -> Result<(Vec<Part>, Foreign), Exit> {
    let mut subjects: BTreeMap<String, Subject> = BTreeMap::new();
    let (mut parts, mut foreign, mut wrong) = (Vec::new(), Foreign::default(), false);
    for (path, scenario) in scenarios {
        let name = named.map_or_else(|| flavour::of(scenario), Ok)?;
        if !subjects.contains_key(name) {
            let version = arguments.subject_version;
            subjects.insert(name.to_owned(), Subject::find(name, arguments.binary.as_deref(), version)?);
        }
        let subject = subjects[name].clone();
        if !scenario.convicts.is_empty() && !arguments.negative {
            foreign.add(path.clone(), WRONG_ON_PURPOSE.to_owned());
            continue;
        }
        match planned(scenario, &subject, seed) {
            Ok(Ok(plan)) => parts.push(Part { scenario: path.clone(), replicas: plan.replicas, subject }),
            Ok(Err(why)) => foreign.add(path.clone(), why),
            Err(error) => {
                complain(&format!("error: {}: failed to {error}", path.display()));
                wrong = true;
            }
        }
    }
    if wrong { Err(Exit::BadInput) } else { Ok((parts, foreign)) }
}

/// Says of each scenario whether it would be run, and runs none.
fn list(scenarios: &[(PathBuf, Scenario)], foreign: &Foreign) -> Result<Exit, Exit> {
    for (path, _) in scenarios {
        match foreign.why(path) {
            None => say(&format!("applicable {}", path.display()))?,
            Some(why) => say(&format!("not applicable {}: {why}", path.display()))?,
        }
    }
    Ok(Exit::Held)
}

/// Who is asked, and how much.
fn who(parts: &[Part]) -> String {
    let mut asked: Vec<(String, usize)> = Vec::new();
    for Part { subject, .. } in parts {
        let version = subject.version.map_or_else(String::new, |version| format!(" {version}"));
        let name = format!("{}{version}", subject.profile.name);
        match asked.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => asked.push((name, 1)),
        }
    }
    let told = asked.iter().map(|(name, count)| {
        format!("{name} against {count} scenario{}", if *count == 1 { "" } else { "s" })
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Where everything is written, by its whole path: subjects run elsewhere.
fn directory(arguments: &Arguments) -> Result<PathBuf, Exit> {
    let temporary = || std::env::temp_dir().join(format!("scaleproof-{}", std::process::id()));
    let directory = arguments.report.clone().unwrap_or_else(temporary);
    std::fs::create_dir_all(&directory).and_then(|()| directory.canonicalize()).map_err(|e| {
        complain(&format!("error: failed to make the folder {}: {e}", directory.display()));
        Exit::Missing
    })
}

/// What is to be done, one seed after the other.
fn errands(
    arguments: &Arguments,
    parts: &[Part],
    first: u64,
    directory: &Path,
    live: bool,
) -> Result<Vec<Errand>, Exit> {
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let mut errands = Vec::new();
    for seed in first..first.saturating_add(arguments.repeat) {
        for Part { scenario, replicas, subject } in parts {
            let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("{stem}-{seed}");
            let taken = names.entry(name.clone()).or_default();
            *taken += 1;
            // Scenarios of different folders may have the same name.
            let name = if *taken > 1 { format!("{name}-{taken}") } else { name };
            let directory = directory.join(name);
            std::fs::create_dir_all(&directory).map_err(|e| {
                complain(&format!("error: failed to make the folder {}: {e}", directory.display()));
                Exit::Missing
            })?;
            errands.push(Errand {
                scenario: scenario.clone(),
                seed,
                subject: subject.clone(),
                cluster: arguments.cluster.to_string(),
                time: arguments.time.to_string(),
                directory,
                replicas: *replicas,
                timeline: arguments.report.is_some(),
                live,
                parent: std::process::id(),
            });
        }
    }
    Ok(errands)
}

/// Tells what came out of a run: in full if it is the only one, or if it did not hold.
fn next(live: &mut Live, errand: &Errand, done: &Done, only: bool, temporary: bool) {
    match done {
        Ok(telling) => {
            live.judged(telling.standing);
            if only || telling.standing >= Standing::Unknown {
                // A full disk is told at the end again.
                let _ = live.aside(|| say(&text::run(telling, paint())));
            }
            if temporary && telling.standing < Standing::Unknown {
                let _ = std::fs::remove_dir_all(&errand.directory);
            }
        }
        Err((_, why)) => {
            let scenario = errand.scenario.display();
            live.aside(|| complain(&format!("error: {scenario}: failed to {why}")));
        }
    }
}

/// Tells what came out of all, and how the program ends.
fn finish(
    arguments: &Arguments,
    directory: &Path,
    errands: &[Errand],
    done: Vec<Done>,
    (foreign, interrupted): (usize, bool),
) -> Result<Exit, Exit> {
    let missing = errands.len() - done.len();
    let failed = done.iter().find_map(|done| done.as_ref().err()).map(|(exit, _)| *exit);
    let tellings: Vec<Telling> = done.into_iter().filter_map(Result::ok).collect();
    if arguments.report.is_some() {
        reports(directory, &tellings)?;
    }
    for telling in &tellings {
        for attempt in &telling.attempts {
            let told = text::given_up(attempt);
            say(&format!("{}: an attempt before was given up: {told}", telling.scenario))?;
        }
    }
    if tellings.len() > 1 {
        say(&format!("\n{}", text::table(&tellings, paint())))?;
    }
    say(&text::judged_on_claim(&tellings, foreign))?;
    // What an interruption cut short is of no round.
    let rounds = tellings.iter().filter(|telling| !interrupted || telling.cut_short.is_none());
    if let Some(told) = stability::told(rounds) {
        say(&format!("\n{told}"))?;
    }
    if missing > 0 {
        complain(&format!("{missing} of {} runs were not begun", errands.len()));
    }
    let exit = match failed
        .filter(|exit| *exit != Exit::Unknown)
        .unwrap_or_else(|| exit(Standing::of_all(&tellings)))
    {
        Exit::Held if interrupted || too_few_judged(arguments, &tellings) => Exit::Unknown,
        exit => exit,
    };
    say(&format!("\nexit code {}: {}", exit.code(), exit.meaning()))?;
    Ok(exit)
}

/// Whether fewer scenarios were judged on their claim than were to be, which is told.
fn too_few_judged(arguments: &Arguments, tellings: &[Telling]) -> bool {
    let (judged, least) = (Telling::judged_on_claim(tellings), arguments.min_judged);
    let few = judged < least;
    if few {
        complain(&format!("scenarios judged on their claim: {judged}, and --min-judged asks for {least}"));
    }
    few
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}
