//! The command line of the program.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use mock_clock::{LogLevel, TimeArguments};
use mock_hetzner::Profile;

/// A Hetzner Cloud in one process: servers, networks, volumes and all that clients ask for, in memory, without a bill
#[derive(Debug, Parser)]
#[command(name = "mock-hetzner", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a cloud, say how to reach it, and serve until Ctrl-C
    Serve(Serve),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Point a client at it with HCLOUD_ENDPOINT=http://127.0.0.1:8080/v1 and HCLOUD_TOKEN, or what it has instead.

The port of the administration (bill, troubles, state, reset) asks for no token, so it listens on the loopback only;
`curl http://127.0.0.1:8081/` lists what it can.

Time passes as it does elsewhere, unless --rate or --idle-skip says otherwise. Started inside a run of scaleproof
(MOCK_CLOCK_PAGE is set), it follows the clock of that run.

Exit codes:
   0  it was told to end and did
  64  bad input: arguments, catalogue, state
  69  it could not start or go on; the message says why and what to do")]
pub(crate) struct Serve {
    /// The port of the API; 0 takes any that is free
    #[arg(long, default_value_t = 8080)]
    port: u16,

    /// The address to listen on; 0.0.0.0 for clients in containers or on other machines
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    /// The port of the administration [default: the one after the API's]
    #[arg(long, value_name = "PORT")]
    admin_port: Option<u16>,

    /// A token that opens it; may be given several times [default: one is drawn and told]
    #[arg(long = "token", value_name = "TOKEN", value_parser = token)]
    pub(crate) tokens: Vec<String>,

    /// A token that may look and change nothing; may be given several times
    #[arg(long = "read-only-token", value_name = "TOKEN", value_parser = token)]
    pub(crate) read_only_tokens: Vec<String>,

    /// What is for sale, if not what Hetzner sells: YAML files, or answers of the API as JSON
    #[arg(long, value_name = "DIR")]
    pub(crate) catalogue: Option<PathBuf>,

    /// Go on from this file if it is there, and keep it up to date
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) time: TimeArguments,

    /// How many requests an hour are let through
    #[arg(long, value_name = "N", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests_per_hour: u64,

    /// As which state of the API it answers: 2024, 2026-06 or current
    #[arg(long, value_name = "PROFILE", default_value_t)]
    pub(crate) api_profile: Profile,

    /// Decides everything that is drawn: durations, passwords, whether a trouble bites
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How much to tell on standard error
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log: LogLevel,
}

impl Serve {
    /// Where the API listens.
    pub(crate) fn api(&self) -> SocketAddr {
        SocketAddr::new(self.listen, self.port)
    }

    /// Where the administration listens: beside the API, unless any port will do.
    pub(crate) fn admin(&self) -> SocketAddr {
        let beside = if self.port == 0 { 0 } else { self.port.wrapping_add(1) };
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.admin_port.unwrap_or(beside)))
    }
}

/// A token as it can stand in a header.
fn token(text: &str) -> Result<String, &'static str> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        Err("a token has at least one character, and no spaces or characters beyond ASCII")
    }
}
