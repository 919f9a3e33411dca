//! What the program does: read its arguments, start a control plane, tell how to reach it, wait for a signal.

mod arguments;
mod kubeconfig;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;
use mock_clock::{Clock as _, ClockError, Log, VirtualClock};
use mock_kubernetes::{ControlPlane, StartError};
use tokio::signal::unix::{Signal, SignalKind, signal};

use arguments::{Arguments, Serve, Verb};

/// As whom a token of the user's choice is known, and to which group that belongs.
const ADMIN: &str = "kubernetes-admin";
const ADMIN_GROUP: &str = "system:masters";

/// The codes of `sysexits`, which scaleproof ends with too.
const BAD_INPUT: u8 = 64;
const UNAVAILABLE: u8 = 69;
/// As a shell reports a program that Ctrl-C killed.
const INTERRUPTED: i32 = 130;

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
            let _ = writeln!(io::stderr(), "mock-kubernetes: failed to {trouble}");
            trouble.code().into()
        }
    }
}

/// From the first thread to the last.
fn run(serve: &Serve) -> Result<(), Trouble> {
    let log = Log::start(serve.log, "mock_kubernetes");
    let clock = serve.time.clock(None).map_err(Trouble::Clock)?;
    log.date_by(&clock);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Trouble::System)?;
    runtime.block_on(until_told(serve, clock))
}

async fn until_told(serve: &Serve, clock: VirtualClock) -> Result<(), Trouble> {
    // Before anybody can be told that the server is up: from then on a signal must end it well.
    let mut ends = Ends::new().map_err(Trouble::System)?;
    let mut builder = ControlPlane::builder().clock(clock.clone()).listen(serve.listen).seed(serve.seed);
    for name in serve.names() {
        builder = builder.name(name);
    }
    if serve.bare {
        builder = builder.bare();
    }
    if let Some(token) = &serve.token {
        builder = builder.token(token, ADMIN, &[ADMIN_GROUP]);
    }
    let plane = tokio::select! {
        started = builder.start() => started.map_err(|source| Trouble::Start { listen: serve.listen, source })?,
        () = ends.come() => return Ok(()),
    };
    let place = serve.kubeconfig_out.clone().unwrap_or_else(|| kubeconfig::default_place(plane.address()));
    let written = kubeconfig::write(&place, &plane.kubeconfig_for(&url(&plane)));
    if let Err(source) = written {
        plane.stop().await;
        return Err(Trouble::Kubeconfig { place, source });
    }
    greet(&plane, serve, &place, &clock);
    ends.come().await;
    tracing::info!("stopping; once more to stop at once");
    tokio::select! {
        () = plane.stop() => Ok(()),
        () = ends.come() => std::process::exit(INTERRUPTED),
    }
}

/// Tells on standard output where it is and how to use it. Nobody need be reading.
fn greet(plane: &ControlPlane, serve: &Serve, place: &Path, clock: &VirtualClock) {
    let token = if serve.token.is_some() { ", and the token opens it too" } else { "" };
    let text = format!(
        "A Kubernetes control plane listens on {url}{token}.
Its kubeconfig is in {place}, and stays there when it ends:

    kubectl --kubeconfig {place} get all --all-namespaces

Virtual time is {now} ({time}), the seed is {seed}. Nothing is kept. Ctrl-C ends it.",
        url = url(plane),
        place = place.display(),
        now = clock.now(),
        time = serve.time.in_words(),
        seed = serve.seed,
    );
    let mut out = io::stdout();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Where clients on this machine find it. Whoever listens everywhere listens on the loopback too.
fn url(plane: &ControlPlane) -> String {
    let address = plane.address();
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("https://{}", SocketAddr::new(ip, address.port()))
}

/// The signals that end the program.
struct Ends {
    interrupt: Signal,
    terminate: Signal,
}

impl Ends {
    fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Why there is no control plane. Reads after "failed to".
enum Trouble {
    Clock(ClockError),
    System(io::Error),
    Start { listen: SocketAddr, source: StartError },
    Kubeconfig { place: PathBuf, source: io::Error },
}

impl Trouble {
    fn code(&self) -> u8 {
        if let Self::Clock(ClockError::DateOfRealTime(_) | ClockError::StartTooLate(_)) = self {
            BAD_INPUT
        } else {
            UNAVAILABLE
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(source) => write!(f, "{source}"),
            Self::System(source) => write!(f, "start: {source}"),
            Self::Start { listen, source } => {
                write!(f, "{source}")?;
                match source {
                    StartError::Listen { in_use: true, .. } => write!(
                        f,
                        "\nsomebody else has port {}; choose another with --listen ADDRESS:PORT, or any that is \
                         free with --listen {}",
                        listen.port(),
                        SocketAddr::new(listen.ip(), 0),
                    ),
                    StartError::Listen { .. } => {
                        write!(f, "\nchoose another address or port with --listen ADDRESS:PORT")
                    }
                    _ => Ok(()),
                }
            }
            Self::Kubeconfig { place, source } => {
                let place = place.display();
                write!(
                    f,
                    "write the kubeconfig to {place}: {source}\nchoose another place with --kubeconfig-out"
                )
            }
        }
    }
}
