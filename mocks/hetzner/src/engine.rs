//! The whole API as a function: a moment and a request in, a reply out. No clock is read and nothing is written.

mod servers;
mod snapshot;

pub use servers::Glance;
pub use snapshot::{Snapshot, SnapshotError};

use std::collections::BTreeMap;
use std::sync::Arc;

use mock_clock::Time;
use serde_json::Value;

use crate::call::show::http_date;
use crate::call::{Answer, Answered, Call, Query, Reply, Request, Routes, Run, Step, Wrong};
use crate::catalogue::Catalogue;
use crate::ledger::Ledger;
use crate::profile::Profile;
use crate::project::{Chance, Project};
use crate::resource;
use crate::trouble::Meddling;

/// What all paths begin with.
const VERSION: &str = "/v1";
/// How many answers are kept for those who ask again while nothing has changed.
const KEPT_ANSWERS: usize = 64;

/// The Hetzner Cloud of one project.
#[derive(Debug)]
pub struct Engine {
    pub(crate) project: Project,
    tokens: Vec<Token>,
    routes: Routes,
    /// Where the links of lists lead.
    root: String,
    /// Counts the changes.
    revision: u64,
    /// Answers that hold until something changes.
    kept: BTreeMap<String, Served>,
}

/// Who may come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What stands in the header.
    pub secret: String,
    /// It may look, and change nothing.
    pub read_only: bool,
}

/// An answer that is ready to go out.
#[derive(Clone, Debug)]
struct Served {
    status: u16,
    links: Vec<(&'static str, String)>,
    body: Option<Arc<Vec<u8>>>,
}

impl Engine {
    /// A project with nothing in it.
    pub fn new(catalogue: Arc<Catalogue>, profile: Profile, seed: u64, now: Time) -> Self {
        Self::with(Project::new(catalogue, profile, seed, now))
    }

    pub(crate) fn with(project: Project) -> Self {
        Self {
            project,
            tokens: Vec::new(),
            routes: resource::routes(),
            root: String::new(),
            revision: 0,
            kept: BTreeMap::new(),
        }
    }

    /// Lets this token in, and no longer just any.
    pub fn admit(&mut self, token: Token) {
        self.tokens.push(token);
    }

    /// Lets everything happen whose time has come. Says whether there was anything.
    pub fn advance(&mut self, now: Time) -> bool {
        let any = self.project.advance(now);
        if any {
            self.touched();
        }
        any
    }

    /// Who was there from when to when, and what it costs.
    pub fn ledger(&self) -> &Ledger {
        &self.project.ledger
    }

    /// The next moment at which something happens by itself.
    pub fn next(&self) -> Option<Time> {
        self.project.timeline.next()
    }

    /// Counts the changes: as long as it is the same, nothing has changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Lets so many requests an hour through.
    pub fn limit_requests(&mut self, now: Time, per_hour: u64) {
        self.project.limit_requests(now, per_hour);
    }

    /// Goes on with the state of a snapshot. Tokens, catalogue and whoever waits for changes stay.
    pub fn replace(&mut self, snapshot: Snapshot, now: Time) -> Result<(), String> {
        let catalogue = Arc::clone(&self.project.catalogue);
        self.project = Self::resume(snapshot, catalogue, now)?.project;
        self.touched();
        Ok(())
    }

    /// Empties the project. Tokens, catalogue, limit and seed stay.
    pub fn reset(&mut self, now: Time) {
        let before = &self.project;
        let (catalogue, per_hour) = (Arc::clone(&before.catalogue), before.usual_limit());
        self.project = Project::new(catalogue, before.profile, before.troubles.seed(), now);
        self.project.limit_requests(now, per_hour);
        self.touched();
    }

    /// Tells where clients find it, for the links of lists.
    pub fn reached_at(&mut self, root: &str) {
        root.clone_into(&mut self.root);
    }

    /// Something has changed, or may have.
    pub(crate) fn touched(&mut self) {
        self.revision += 1;
        self.kept.clear();
    }

    /// Answers a request at a moment. What was to happen until then happens before.
    pub fn answer(&mut self, now: Time, request: &Request) -> Reply {
        self.advance(now);
        let correlation = format!("{:016x}", self.project.correlation.draw());
        let result = self.admitted(now, request).and_then(|path| self.serve(now, request, &path));
        let (status, links, body, form) = match result {
            Ok(Served { status, links, body }) => (status, links, body, "application/json"),
            Err(wrong) => {
                let (body, form) = wrong.body();
                (wrong.status(), Vec::new(), Some(Arc::new(body.into_bytes())), form)
            }
        };
        let mut headers = self.limit_headers(now);
        headers.push(("X-Correlation-Id", correlation));
        headers.push(("Date", http_date(now)));
        if body.is_some() {
            headers.push(("Content-Type", form.to_owned()));
        }
        if !links.is_empty() {
            headers.push(("Link", self.link_header(&links)));
        }
        Reply { status, headers, body }
    }

    /// The path below the version, for a request that may come in: not too many of them, and with a token.
    fn admitted(&mut self, now: Time, request: &Request) -> Result<String, Wrong> {
        if !self.project.take_request(now) {
            return Err(self.too_many(request));
        }
        let path = request.path.strip_prefix(VERSION).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let path = path.ok_or_else(Wrong::no_such_path)?;
        let token =
            secret(request).and_then(|secret| self.tokens.iter().find(|token| token.secret == secret));
        let token = token.ok_or_else(Wrong::unauthorized)?;
        if token.read_only && request.method != "GET" {
            return Err(Wrong::read_only(self.project.profile));
        }
        // Endpoints are given with and without a slash at their end, so it may come twice.
        Ok(format!("/{}", path.trim_matches('/')))
    }

    fn serve(&mut self, now: Time, request: &Request, path: &str) -> Result<Served, Wrong> {
        let step = self.routes.find(&request.method, path)?;
        let meddling = self.project.meddle(now, request, path);
        if let Meddling::Instead(wrong) = meddling {
            return Err(wrong);
        }
        let call = Call {
            now,
            path,
            ids: step.ids,
            query: Query::parse(&request.query),
            body: &request.body,
            agent: &request.agent,
        };
        let troubles = self.project.bending(now, request, path);
        let served = match step.run {
            Run::Look(look) if troubles.is_empty() => self.look(look, &call, request),
            Run::Look(look) => self.project.look_bent(look, &call, &troubles).map(Served::from),
            Run::Change(change) => {
                self.touched();
                let changed = match troubles.as_slice() {
                    [] => change(&mut self.project, &call),
                    troubles => self.project.change_bent(change, &call, troubles),
                };
                changed.map(Served::from)
            }
            Run::Absent => Err(Wrong::not_simulated(&request.method, path)),
        };
        match meddling {
            Meddling::After(trouble, wrong) if served.is_ok() => {
                self.project.answer_lost(now, trouble);
                Err(wrong)
            }
            _ => served,
        }
    }

    pub(crate) fn find_route(&self, method: &str, path: &str) -> Result<Step, Wrong> {
        self.routes.find(method, path)
    }

    /// Looks, unless the same was asked before and nothing has changed since.
    fn look(
        &mut self,
        look: fn(&Project, &Call<'_>) -> Answered,
        call: &Call<'_>,
        request: &Request,
    ) -> Result<Served, Wrong> {
        let key = format!("{}?{}", call.path, request.query);
        if let Some(kept) = self.kept.get(&key) {
            return Ok(kept.clone());
        }
        let served = Served::from(look(&self.project, call)?);
        if self.kept.len() < KEPT_ANSWERS {
            self.kept.insert(key, served.clone());
        }
        Ok(served)
    }

    fn too_many(&self, request: &Request) -> Wrong {
        let known: String = secret(request).unwrap_or_default().chars().take(8).collect();
        let per_hour = self.project.limit.per_hour();
        Wrong::new(
            "rate_limit_exceeded",
            format!("limit of {per_hour} requests per hour for token '{known}…' reached"),
        )
    }

    fn limit_headers(&self, now: Time) -> Vec<(&'static str, String)> {
        let limit = &self.project.limit;
        vec![
            ("RateLimit-Limit", limit.per_hour().to_string()),
            ("RateLimit-Remaining", limit.remaining(now).to_string()),
            ("RateLimit-Reset", limit.reset_s(now).to_string()),
        ]
    }

    fn link_header(&self, links: &[(&'static str, String)]) -> String {
        let links = links
            .iter()
            .map(|(relation, target)| format!("<{}{VERSION}{target}>; rel={relation}", self.root));
        links.collect::<Vec<_>>().join(", ")
    }
}

impl From<Answer> for Served {
    fn from(answer: Answer) -> Self {
        Self { status: answer.status, links: answer.links, body: answer.body.as_ref().map(bytes) }
    }
}

fn secret(request: &Request) -> Option<&str> {
    let (scheme, secret) = request.authorization.as_deref()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
}

fn bytes(value: &Value) -> Arc<Vec<u8>> {
    Arc::new(value.to_string().into_bytes())
}

/// A token as Hetzner's are: 64 letters and digits. The seed decides which.
pub fn drawn_token(seed: u64) -> String {
    Chance::new(seed).word(64)
}

#[cfg(test)]
mod tests;
