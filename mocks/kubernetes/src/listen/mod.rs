//! The door: TLS, HTTP/1.1 and HTTP/2, and who it is that asks.
//!
//! It hands whole requests to a [`Handler`] and takes whole or streamed answers from it. It does not know what is
//! asked for, and it authorises nobody; [`User`] has the words for whoever may not.
//!
//! From the outside in: a [`Listener`] accepts, each connection is served alone, each request is one exchange.

mod body;
mod certificates;
mod connection;
mod exchange;
mod hold;
mod identity;
mod impersonate;
pub(crate) mod kubeconfig;
mod opening;
mod outgoing;
mod pace;
mod server;
#[cfg(test)]
mod tests;
mod tls;
mod tokens;

pub(crate) use body::{Body, Source};
pub(crate) use certificates::Certificates;
pub(crate) use exchange::Handler;
pub(crate) use identity::{Attempt, User};
pub(crate) use server::{ListenError, Listener, Settings};
pub(crate) use tokens::{Claims, ISSUER, Tokens, Worth};
