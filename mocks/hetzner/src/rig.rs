//! A cloud to test against, without sockets: requests in, JSON out, time moved by hand.

use std::sync::Arc;
use std::time::Duration;

use mock_clock::Time;
use serde_json::{Value, json};

use crate::call::Request;
use crate::catalogue::Catalogue;
use crate::engine::{Engine, Token};
use crate::profile::Profile;
use crate::resource::server::{Server, Status};

pub(crate) struct Rig {
    pub(crate) engine: Engine,
    pub(crate) now: Time,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::of(Profile::Current)
    }

    pub(crate) fn of(profile: Profile) -> Self {
        let now: Time = "2026-11-01T00:00:00Z".parse().unwrap();
        let mut engine = Engine::new(Arc::new(Catalogue::builtin()), profile, 1, now);
        engine.admit(Token { secret: "token".to_owned(), read_only: false });
        Self { engine, now }
    }

    /// Status and body of an answer.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut request = Request::new(method, &format!("/v1{path}")).token("token");
        if !body.is_null() {
            request = request.body(body.to_string());
        }
        let reply = self.engine.answer(self.now, &request);
        let body = reply.body.map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
        (reply.status, body)
    }

    /// What a request that has to succeed is answered.
    pub(crate) fn done(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, body);
        assert!(status < 300, "{method} {path} {body}: {status} {answer}");
        answer
    }

    pub(crate) fn get(&mut self, path: &str) -> Value {
        self.done("GET", path, &Value::Null)
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Value {
        self.done("POST", path, body)
    }

    /// Status and code of a request that has to be refused.
    pub(crate) fn refused(&mut self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let (status, answer) = self.ask(method, path, body);
        assert!(status >= 400, "{method} {path} {body}: {status} {answer}");
        (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned())
    }

    /// Orders a server: status and answer.
    pub(crate) fn order(&mut self, name: &str) -> (u16, Value) {
        self.order_with(name, &json!({}))
    }

    pub(crate) fn order_with(&mut self, name: &str, more: &Value) -> (u16, Value) {
        let mut body = json!({"name": name, "server_type": "cx23", "image": "debian-12", "location": "fsn1"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask("POST", "/servers", &body)
    }

    /// Orders a server that is not refused: its id.
    pub(crate) fn ordered(&mut self, name: &str) -> u64 {
        let (status, answer) = self.order(name);
        assert_eq!(status, 201, "{answer}");
        answer["server"]["id"].as_u64().unwrap()
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.engine.advance(self.now);
    }

    /// Puts a server that nobody ordered, with a public address that nobody has given out.
    pub(crate) fn server(&mut self, name: &str, labels: &Value) -> u64 {
        let project = &mut self.engine.project;
        let labels = serde_json::from_value(labels.clone()).unwrap();
        let head = project.servers.head(self.now, name.to_owned(), labels);
        project.servers.put(Server {
            head,
            status: Status::Running,
            server_type: "cx23".to_owned(),
            becoming: None,
            location: "fsn1".to_owned(),
            image: None,
            ipv4: Some(1),
            ipv6: None,
            networks: Vec::new(),
            placement_group: None,
            rebuild_kept: false,
            backup_window: None,
            rescue_until: None,
            has_key: true,
            iso: None,
            disk_gb: 40,
        })
    }
}
