//! The administration: what the API's users cannot do and its owner can. A port of its own, no tokens.
//!
//! Every answer is a whole document that ends with a line break, so that it reads well in a terminal. What is refused
//! is refused with a sentence, and has changed nothing.

mod cloud;
mod overview;
mod said;
#[cfg(test)]
mod tests;
mod wrongs;

use mock_clock::Time;

use crate::call::{Query, Reply, Request};
use crate::engine::Engine;
use Room::{MayRefuse, Tells};
use said::{Refused, Said};

/// A request, and what it is about.
struct Visit<'a> {
    engine: &'a mut Engine,
    now: Time,
    body: &'a [u8],
    query: Query,
    /// The number in the path.
    id: u64,
}

/// What answers.
#[derive(Clone, Copy)]
enum Room {
    Tells(fn(&mut Visit<'_>) -> Said),
    MayRefuse(fn(&mut Visit<'_>) -> Result<Said, Refused>),
}

/// Everything there is, in the order in which it is told.
const ROOMS: &[(&str, &str, &str, Room)] = &[
    ("GET", "/", "this page", Tells(front)),
    ("GET", "/healthz", "whether it is there", Tells(healthy)),
    ("GET", "/servers", "who exists since when; ?format=text", MayRefuse(overview::servers)),
    (
        "GET",
        "/ledger",
        "what it has cost; ?format=text, ?after=TIME, ?until=TIME",
        MayRefuse(overview::ledger),
    ),
    ("GET", "/journal", "who made and deleted what, and when; ?format=text", MayRefuse(overview::journal)),
    ("GET", "/troubles", "what goes wrong on purpose, and whether it has bitten", Tells(wrongs::all)),
    (
        "POST",
        "/troubles",
        "lets something go wrong: {\"kind\": \"sold_out\", \"location\": \"fsn1\"}",
        MayRefuse(wrongs::inject),
    ),
    ("DELETE", "/troubles", "heals all", Tells(wrongs::heal_all)),
    ("GET", "/troubles/{id}", "one of them", MayRefuse(wrongs::one)),
    ("DELETE", "/troubles/{id}", "heals it", MayRefuse(wrongs::heal)),
    (
        "POST",
        "/deeds",
        "does something by hand: {\"deed\": \"delete\", \"which\": \"web-1\"}",
        MayRefuse(wrongs::by_hand),
    ),
    ("GET", "/limit", "how many requests an hour are let through", Tells(cloud::limit)),
    ("PUT", "/limit", "lets as many through: {\"per_hour\": 3600}", MayRefuse(cloud::set_limit)),
    ("GET", "/state", "everything there is, to be kept", Tells(cloud::state)),
    ("PUT", "/state", "goes on where that was", MayRefuse(cloud::load)),
    ("POST", "/reset", "empties the project; catalogue, tokens and limit stay", Tells(cloud::reset)),
];

/// Answers a request to the administration.
pub(crate) fn answer(engine: &mut Engine, now: Time, request: &Request) -> Reply {
    engine.advance(now);
    let path = request.path.trim_end_matches('/');
    let path = if path.is_empty() { "/" } else { path };
    let (pattern, id) = numbered(path);
    let here: Vec<_> = ROOMS.iter().filter(|(_, known, ..)| *known == pattern).collect();
    let room = here.iter().find(|(method, ..)| *method == request.method);
    let said = match room {
        Some((.., room)) => {
            let query = Query::parse(&request.query);
            let mut visit = Visit { engine, now, body: &request.body, query, id };
            match room {
                Tells(room) => Ok(room(&mut visit)),
                MayRefuse(room) => room(&mut visit),
            }
        }
        None if here.is_empty() => Err(Refused::not_found(format!("there is no {path}; see /"))),
        None => {
            let methods: Vec<&str> = here.iter().map(|(method, ..)| *method).collect();
            Err(Refused::new(405, format!("{path} knows {}, not {}", methods.join(", "), request.method)))
        }
    };
    said.unwrap_or_else(|refused| refused.said()).reply()
}

/// The path with a number at its end taken out.
fn numbered(path: &str) -> (String, u64) {
    let last = path.rsplit_once('/').and_then(|(before, last)| Some((before, last.parse().ok()?)));
    match last {
        Some((before, id)) => (format!("{before}/{{id}}"), id),
        None => (path.to_owned(), 0),
    }
}

fn front(_: &mut Visit<'_>) -> Said {
    let lines = ROOMS.iter().map(|(method, path, what, _)| format!("{method:<7}{path:<16}{what}"));
    let lines: Vec<String> = lines.collect();
    Said::text(format!("The administration of a mocked Hetzner Cloud.\n\n{}", lines.join("\n")))
}

fn healthy(_: &mut Visit<'_>) -> Said {
    Said::text("ok".to_owned())
}
