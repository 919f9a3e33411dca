//! A conversation: what is asked, when, and by whom.

use std::sync::Arc;
use std::time::Duration;

use mock_clock::Time;
use mock_hetzner::{Catalogue, Engine, Profile, Request, Token, Trouble};
use serde::Deserialize;
use serde_json::Value;

use crate::record::{self, Show};

/// When every conversation begins.
const BEGIN: &str = "2026-11-01T00:00:00Z";
const SEED: u64 = 1;
/// Who asks if nobody else does.
const WRITER: &str = "writer";
/// Who may only look.
const READER: &str = "reader";

/// What is asked, in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Talk {
    /// The profile; the current one if left out.
    profile: Option<String>,
    talk: Vec<Step>,
}

/// A trouble, or a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// So many seconds after the step before.
    #[serde(default)]
    after_s: u64,
    /// Something that goes wrong from now on.
    trouble: Option<Trouble>,
    /// Method and path, which may have a query.
    ask: Option<String>,
    body: Option<Value>,
    /// A body that is no JSON.
    text: Option<String>,
    /// Another token than the one that may do everything.
    token: Option<String>,
    /// How much of the answer is recorded.
    #[serde(default)]
    show: Show,
}

impl Talk {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let options = serde_yaml::options! { strict_booleans: true };
        serde_yaml::from_str_with_options(text, options).map_err(|error| error.to_string())
    }

    /// Asks everything, and gives the record.
    pub(crate) fn hold(&self) -> String {
        let mut now: Time = BEGIN.parse().unwrap();
        let profile: Profile =
            self.profile.as_deref().map_or_else(Profile::default, |it| it.parse().unwrap());
        let mut engine = Engine::new(Arc::new(Catalogue::builtin()), profile, SEED, now);
        engine.reached_at("http://cloud");
        for (secret, read_only) in [(WRITER, false), (READER, true)] {
            engine.admit(Token { secret: secret.to_owned(), read_only });
        }
        let mut said = String::new();
        for step in &self.talk {
            now += Duration::from_secs(step.after_s);
            if let Some(trouble) = &step.trouble {
                engine.inject(now, trouble.clone()).unwrap();
            }
            if let Some(ask) = &step.ask {
                let (request, heading) = step.request(ask);
                let reply = engine.answer(now, &request);
                said += &record::answer(&heading, &reply, step.show);
            }
        }
        said
    }
}

impl Step {
    /// The request, and how it stands in the record.
    fn request(&self, ask: &str) -> (Request, String) {
        let (method, target) = ask.split_once(' ').unwrap();
        let token = self.token.as_deref().unwrap_or(WRITER);
        let request = Request::new(method, &format!("/v1{target}"));
        let request = if token.is_empty() { request } else { request.token(token) };
        let body = self.text.clone().or_else(|| self.body.as_ref().map(Value::to_string));
        let heading = match &body {
            Some(body) => format!("{ask} {body}"),
            None => ask.to_owned(),
        };
        (request.body(body.unwrap_or_default()), record::short(&heading))
    }
}
