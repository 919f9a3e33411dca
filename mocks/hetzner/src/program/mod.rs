//! What the program does: read its arguments, start a cloud, tell how to reach it, wait for a signal.

mod arguments;
mod keeping;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser as _;
use mock_clock::{Clock as _, ClockError, Log, VirtualClock};
use mock_hetzner::{Builder, Catalogue, Cloud, Snapshot, StartError};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use arguments::{Arguments, Serve, Verb};
use keeping::Keeping;

/// The codes of `sysexits`, which scaleproof ends with too.
const BAD_INPUT: u8 = 64;
const UNAVAILABLE: u8 = 69;

pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Verb::Serve(serve) = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.verb,
        Err(e) => {
            let code = if e.use_stderr() { BAD_INPUT } else { 0 };
            // Whoever closed the pipe does not want to read it.
            let _ = e.print();
            return code.into();
        }
    };
    match run(&serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            let _ = writeln!(io::stderr(), "mock-hetzner: failed to {trouble}");
            trouble.code().into()
        }
    }
}

/// From the first thread to the last.
fn run(serve: &Serve) -> Result<(), Trouble> {
    let state = serve.state.as_deref().map(Keeping::open).transpose().map_err(Trouble::State)?;
    let (keeping, snapshot) = state.unzip();
    let snapshot = snapshot.flatten();
    let taken = snapshot.as_ref().map(Snapshot::taken);
    let log = Log::start(serve.log, "mock_hetzner");
    let clock = serve.time.clock(taken).map_err(Trouble::Clock)?;
    log.date_by(&clock);
    if let Some(taken) = taken.filter(|taken| *taken > clock.now()) {
        tracing::warn!(
            "the state is of {taken}, and what was under way then waits until it is as late again"
        );
    }
    raise_open_files();
    quieten_broken_requests();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Trouble::System)?;
    runtime.block_on(until_told(serve, clock, snapshot, keeping))
}

async fn until_told(
    serve: &Serve,
    clock: VirtualClock,
    snapshot: Option<Snapshot>,
    mut keeping: Option<Keeping>,
) -> Result<(), Trouble> {
    // Before anybody can be told that the server is up: from then on a signal must end it well.
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Trouble::System)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(Trouble::System)?;
    let (mut builder, tokens) = furnish(serve, clock)?;
    if let Some(snapshot) = snapshot {
        builder = builder.snapshot(snapshot);
    }
    let cloud = builder.start().await.map_err(|source| Trouble::Start { api: serve.api(), source })?;
    // What changes from here on is written down again.
    let changes = cloud.changes();
    // Whoever cannot write is told so before anything is lost.
    keeping.as_mut().map_or(Ok(()), |keeping| write(keeping, &cloud))?;
    greet(&cloud, serve, &tokens);
    let mut lost = None;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = keep(&cloud, keeping.as_mut(), changes) => {}
        why = cloud.lost() => lost = Some(why),
    }
    keeping.as_mut().map_or(Ok(()), |keeping| write(keeping, &cloud))?;
    lost.map_or(Ok(()), |why| Err(Trouble::Lost(why)))
}

fn write(keeping: &mut Keeping, cloud: &Cloud) -> Result<(), Trouble> {
    keeping.write(cloud).map_err(|e| Trouble::State(format!("write the state: {e}")))
}

/// Writes every change down, if there is where to.
async fn keep(cloud: &Cloud, keeping: Option<&mut Keeping>, changes: watch::Receiver<u64>) {
    match keeping {
        Some(keeping) => keeping.keep(cloud, changes).await,
        None => std::future::pending().await,
    }
}

/// What the cloud is to be like, and the tokens that open it.
fn furnish(serve: &Serve, clock: VirtualClock) -> Result<(Builder, Vec<String>), Trouble> {
    let mut builder = Cloud::builder()
        .clock(clock)
        .listen(serve.api())
        .admin(serve.admin())
        .profile(serve.api_profile)
        .requests_per_hour(serve.requests_per_hour)
        .seed(serve.seed);
    if let Some(dir) = &serve.catalogue {
        builder = builder.catalogue(Catalogue::load(dir).map_err(|e| Trouble::Catalogue(e.to_string()))?);
    }
    let mut tokens = serve.tokens.clone();
    if tokens.is_empty() && serve.read_only_tokens.is_empty() {
        tokens.push(mock_hetzner::drawn_token(serve.seed));
    }
    for token in &tokens {
        builder = builder.token(token);
    }
    for token in &serve.read_only_tokens {
        builder = builder.read_only_token(token);
    }
    Ok((builder, tokens))
}

/// Tells on standard output where it is and how to use it. Nobody need be reading.
fn greet(cloud: &Cloud, serve: &Serve, tokens: &[String]) {
    let api = here(cloud.address());
    let admin = cloud.admin_address().map_or_else(String::new, |address| here(address).to_string());
    let token = tokens.first().or(serve.read_only_tokens.first()).map_or("", String::as_str);
    let kept = match &serve.state {
        Some(place) => format!("Everything is kept in {}.", place.display()),
        None => "Nothing is kept.".to_owned(),
    };
    let text = format!(
        "API     http://{api}/v1
admin   http://{admin}

    HCLOUD_ENDPOINT=http://{api}/v1 HCLOUD_TOKEN={token} hcloud server-type list
    curl http://{admin}/

Virtual time is {now} ({time}), the seed is {seed}. {kept} Ctrl-C ends it.",
        now = cloud.clock().now(),
        time = serve.time.in_words(),
        seed = serve.seed,
    );
    let mut out = io::stdout();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Where clients on this machine find it. Whoever listens everywhere listens on the loopback too.
fn here(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// As many connections as the system lets us have: when there are too many, all of them are cut.
fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(e) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!("failed to raise the number of open files: {e}");
    }
}

/// `wiremock` panics in the task of a connection whose client goes away in the middle of a request. That ends this
/// connection, as it should, and is nothing to be alarmed about.
fn quieten_broken_requests() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.location().is_some_and(|place| place.file().contains("wiremock")) {
            tracing::debug!("a connection ended in the middle of a request");
        } else {
            usual(panic);
        }
    }));
}

/// Why there is no cloud. Reads after "failed to".
enum Trouble {
    Clock(ClockError),
    System(io::Error),
    Catalogue(String),
    State(String),
    /// A port, in the middle of it all.
    Lost(String),
    Start {
        api: SocketAddr,
        source: StartError,
    },
}

impl Trouble {
    fn code(&self) -> u8 {
        match self {
            Self::Clock(ClockError::DateOfRealTime(_) | ClockError::StartTooLate(_))
            | Self::Catalogue(_)
            | Self::State(_)
            | Self::Start { source: StartError::Snapshot(_), .. } => BAD_INPUT,
            _ => UNAVAILABLE,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(source) => write!(f, "{source}"),
            Self::System(source) => write!(f, "start: {source}"),
            Self::Catalogue(why) => write!(f, "read the catalogue\n{why}"),
            Self::Lost(why) => write!(f, "{why}"),
            Self::State(why) => {
                write!(f, "{why}\nchoose another file with --state; one that is not there yet is made")
            }
            Self::Start { api, source } => {
                write!(f, "{source}")?;
                match source {
                    StartError::Listen { address, .. } if address == api => {
                        write!(f, "\nchoose another port with --port, or any that is free with --port 0")
                    }
                    StartError::Listen { .. } => {
                        write!(
                            f,
                            "\nchoose another port with --admin-port, or any that is free with --admin-port 0"
                        )
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}
