//! The command line of the program.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use mock_clock::{LogLevel, TimeArguments};

/// A Kubernetes control plane in one process: API server, scheduler and controllers, in memory, up in milliseconds
#[derive(Debug, Parser)]
#[command(name = "mock-kubernetes", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a control plane, say how to reach it, and serve until Ctrl-C
    Serve(Serve),
}

#[derive(Args, Debug)]
#[command(after_help = "\
There are no nodes until somebody creates them; kubelets, clouds and their controllers come as clients.

Time passes as it does elsewhere, unless --rate or --idle-skip says otherwise. Started inside a run of scaleproof
(MOCK_CLOCK_PAGE is set), it follows the clock of that run.

Exit codes:
   0  it was told to end and did
  64  bad input: arguments
  69  it could not start; the message says why and what to do
 130  it was told to end twice")]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:6443")]
    pub(crate) listen: SocketAddr,

    /// A host name or address by which clients reach it from elsewhere; may be given several times
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,

    /// Where to write the kubeconfig of an administrator [default: a file in the directory for temporary ones]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig_out: Option<PathBuf>,

    /// Accept this bearer token as an administrator's
    #[arg(long, value_parser = token)]
    pub(crate) token: Option<String>,

    /// Only the API server: no scheduler, no controllers
    #[arg(long)]
    pub(crate) bare: bool,

    #[command(flatten)]
    pub(crate) time: TimeArguments,

    /// Decides uids and the names that are generated
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How much to tell on standard error; debug tells every request
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log: LogLevel,
}

impl Serve {
    /// All names and addresses by which clients may call it, besides those that every server has.
    pub(crate) fn names(&self) -> Vec<String> {
        let ip = Some(self.listen.ip()).filter(|ip| !ip.is_unspecified() && !ip.is_loopback());
        ip.map(|ip| ip.to_string()).into_iter().chain(self.names.iter().cloned()).collect()
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
