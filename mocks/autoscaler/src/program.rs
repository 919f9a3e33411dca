//! What the program does: read what it is told, join the clock, lead, loop, and end well when it is asked to.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use mock_clock::{ClockError, Log, PAGE_VARIABLE, VirtualClock};
use tokio::signal::unix::{SignalKind, signal};

use crate::defect::{self, Defect};
use crate::health::Health;
use crate::karpenter::Karpenter;
use crate::kubernetes::KubeClient;
use crate::leader::{Leader, Term};
use crate::market::Market;
use crate::run::Autoscaler;
use crate::settings::{Arguments, Settings, SettingsError};

/// The codes of `sysexits`, which scaleproof ends with too.
const BAD_INPUT: u8 = 64;
const UNAVAILABLE: u8 = 69;
/// As cluster-autoscaler ends when it has lost its lease.
const LOST_LEASE: u8 = 255;

/// The whole program, for these arguments, the first of which is its name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(e) => {
            let code = if e.use_stderr() { BAD_INPUT } else { 0 };
            // Whoever closed the pipe does not want to read it.
            let _ = e.print();
            return code.into();
        }
    };
    if arguments.defects {
        let _ = io::stdout().write_all(defect::list().as_bytes());
        return ExitCode::SUCCESS;
    }
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            let _ = writeln!(io::stderr(), "mock-autoscaler: failed to {trouble}");
            trouble.code().into()
        }
    }
}

/// From the first thread to the last.
fn run(arguments: Arguments) -> Result<(), Trouble> {
    let log = Log::start(arguments.log, "mock_autoscaler");
    let clock = match std::env::var_os(PAGE_VARIABLE) {
        Some(_) => VirtualClock::join(),
        None => VirtualClock::start(mock_clock::Mode::Real, None),
    };
    let clock = clock.map_err(Trouble::Clock)?;
    log.date_by(&clock);
    let settings = Settings::read(arguments, |name| std::env::var(name).ok()).map_err(Trouble::Settings)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Trouble::System)?;
    let ended = runtime.block_on(until_told(Arc::new(settings), clock));
    // What is under way ends with the process, as it would if it were killed; the next start cleans up.
    runtime.shutdown_background();
    ended
}

async fn until_told(settings: Arc<Settings>, clock: VirtualClock) -> Result<(), Trouble> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Trouble::System)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(Trouble::System)?;
    let client = KubeClient::connect(&settings, clock.clone()).await.map_err(Trouble::Kubernetes)?;
    let work = lead(Arc::clone(&settings), client.clone(), clock);
    tokio::select! {
        ended = work => ended,
        _ = interrupt.recv() => { client.delete_status().await; Ok(()) }
        _ = terminate.recv() => { client.delete_status().await; Ok(()) }
    }
}

/// Waits to lead, and works as long as that lasts.
async fn lead(settings: Arc<Settings>, client: KubeClient, clock: VirtualClock) -> Result<(), Trouble> {
    if settings.is_of_claims() {
        let health = Health::new(Arc::clone(&settings), clock);
        let work = async |_| {
            Karpenter::start(Arc::clone(&settings), client.clone()).await.run(&health).await;
            Ok(())
        };
        return elected(&settings, &client, &health, work).await;
    }
    let management = settings.arguments.cloud_config.as_deref().filter(|_| settings.is_of_deployments());
    let manager = match management {
        Some(file) => {
            KubeClient::by(Some(file), &settings, clock.clone()).await.map_err(Trouble::Kubernetes)?
        }
        None => client.clone(),
    };
    let market = Market::new(&settings, &manager, clock.clone()).map_err(Trouble::Cloud)?;
    let health = Health::new(Arc::clone(&settings), clock);
    let work = async |term: Term| {
        let autoscaler = Autoscaler::start(Arc::clone(&settings), client.clone(), market.clone()).await;
        autoscaler.map_err(|e| Trouble::Cloud(e.to_string()))?.run(&health, &term).await;
        Ok(())
    };
    elected(&settings, &client, &health, work).await
}

/// Tells of its health from now on, and works for as long as it leads.
async fn elected(
    settings: &Settings,
    client: &KubeClient,
    health: &Health,
    work: impl AsyncFn(Term) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let address = settings.arguments.address;
    health.clone().serve(address).await.map_err(|e| Trouble::Listen(address.to_string(), e))?;
    if !settings.arguments.leader_elect {
        return work(Term::endless()).await;
    }
    let mut leader = Leader::new(client.clone(), settings);
    if settings.has(Defect::ActsWithoutLease) {
        let leads = async {
            leader.acquire().await;
            leader.keep().await;
        };
        return tokio::join!(work(Term::endless()), leads).0;
    }
    leader.acquire().await;
    let term = leader.term();
    tokio::select! {
        ended = work(term) => ended,
        () = leader.keep() => Err(Trouble::Lease),
    }
}

/// Why the program ended. Reads after "failed to".
#[derive(Debug)]
enum Trouble {
    Settings(SettingsError),
    Clock(ClockError),
    System(io::Error),
    Kubernetes(String),
    Cloud(String),
    Listen(String, io::Error),
    Lease,
}

impl Trouble {
    fn code(&self) -> u8 {
        match self {
            Trouble::Settings(_) => BAD_INPUT,
            Trouble::Lease => LOST_LEASE,
            _ => UNAVAILABLE,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Settings(e) => e.fmt(f),
            Trouble::Clock(e) => e.fmt(f),
            Trouble::System(e) => write!(f, "start: {e}"),
            Trouble::Kubernetes(why) => write!(f, "reach the API server: {why}"),
            Trouble::Cloud(why) => write!(f, "use the cloud: {why}"),
            Trouble::Listen(address, e) => write!(f, "serve /health-check at {address}: {e}"),
            Trouble::Lease => f.write_str("keep the lease: another may lead"),
        }
    }
}
