//! Sends the requests of a conversation and takes down the answers, word for word.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper::{Request, Response};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Map, Value, json};

use crate::path::{fill, fill_all, find};
use crate::script::{Script, Step};

/// A server that hangs shall not hang us; no answer in a conversation takes that long.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// So often a question is repeated; a real server needs a few dozen.
const ASKED_MAX: usize = 5_000;

/// Headers that are part of what the API promises.
const HEADERS: [&str; 4] = ["content-type", "warning", "retry-after", "allow"];

pub(crate) struct Server {
    client: Client,
}

/// An answer as it came. `body` is JSON if the server said so, otherwise a text.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Content,
}

pub(crate) enum Content {
    Whole(Value),
    Events(Vec<Value>),
    /// The request could not be made, or the answer could not be read.
    Nothing(String),
}

/// An open watch and what was read of it but not yet taken.
struct Watch {
    response: Response<Body>,
    unread: Vec<u8>,
}

impl Server {
    pub(crate) async fn reach(kubeconfig: &str) -> Self {
        let parsed = Kubeconfig::from_yaml(kubeconfig).unwrap();
        let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
        config.read_timeout = Some(SILENCE_MAX);
        config.default_retry = false;
        Self { client: Client::try_from(config).unwrap() }
    }

    pub(crate) async fn version(&self) -> String {
        let answer = self.whole(request("GET /version", &[], Vec::new()).unwrap()).await;
        match answer.body {
            Content::Whole(body) => body["gitVersion"].as_str().unwrap_or_default().to_owned(),
            _ => String::new(),
        }
    }

    /// One answer a step, in order.
    pub(crate) async fn converse(&self, script: &Script) -> Vec<Answer> {
        let mut known = Map::from_iter([("ns".to_owned(), json!(script.name))]);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": script.name}});
        let json_type = ("content-type", "application/json".to_owned());
        let create = request("POST /api/v1/namespaces", &[json_type], namespace.to_string().into_bytes());
        self.whole(create.unwrap()).await;

        let mut watches = BTreeMap::new();
        let mut answers = Vec::new();
        for step in &script.steps {
            let answer = self.step(step, &Value::Object(known.clone()), &mut watches).await;
            if let Content::Whole(body) = &answer.body {
                known.insert(step.name.clone(), body.clone());
            }
            answers.push(answer);
        }
        answers
    }

    async fn step(&self, step: &Step, known: &Value, watches: &mut BTreeMap<String, Watch>) -> Answer {
        if let Some(from) = &step.from {
            let Some(watch) = watches.get_mut(from) else {
                return Answer::nothing(format!("no watch called {from}"));
            };
            return watch.answer(step.take.unwrap_or_default()).await;
        }
        let request = match prepared(step, known) {
            Ok(request) => request,
            Err(why) => return Answer::nothing(why),
        };
        if let Some(until) = &step.until {
            return self.until(until, step, known).await;
        }
        let Some(take) = step.take else { return self.whole(request).await };
        match self.client.send(request).await {
            Ok(response) if response.status().is_success() => {
                let mut watch = Watch { response, unread: Vec::new() };
                let answer = watch.answer(take).await;
                if step.open {
                    watches.insert(step.name.clone(), watch);
                }
                answer
            }
            Ok(response) => whole(response).await,
            Err(error) => Answer::nothing(error.to_string()),
        }
    }

    async fn until(&self, condition: &str, step: &Step, known: &Value) -> Answer {
        let mut answer = Answer::nothing("never asked".to_owned());
        for _ in 0..ASKED_MAX {
            answer = match prepared(step, known) {
                Ok(request) => self.whole(request).await,
                Err(why) => return Answer::nothing(why),
            };
            let Content::Whole(body) = &answer.body else { break };
            let holds = match condition.rsplit_once('=') {
                Some((place, text)) => find(body, place).and_then(Value::as_str) == Some(text),
                None => answer.status == 200,
            };
            if holds {
                break;
            }
        }
        answer
    }

    async fn whole(&self, request: Request<Body>) -> Answer {
        match self.client.send(request).await {
            Ok(response) => whole(response).await,
            Err(error) => Answer::nothing(error.to_string()),
        }
    }
}

impl Answer {
    fn nothing(why: String) -> Self {
        Self { status: 0, headers: BTreeMap::new(), body: Content::Nothing(why) }
    }

    fn head(response: &Response<Body>, body: Content) -> Self {
        let text = |name: &str| {
            let values = response.headers().get_all(name).into_iter();
            let texts: Vec<&str> = values.map(|value| value.to_str().unwrap_or("?")).collect();
            (!texts.is_empty()).then(|| (name.to_owned(), texts.join(" | ")))
        };
        let headers = HEADERS.iter().filter_map(|name| text(name)).collect();
        Self { status: response.status().as_u16(), headers, body }
    }
}

impl Watch {
    /// The next events; fewer if the server ends the stream before.
    async fn answer(&mut self, count: usize) -> Answer {
        let mut events = Vec::new();
        while events.len() < count {
            match self.next_line().await {
                Ok(Some(line)) => events.push(serde_json::from_slice(&line).unwrap_or_else(|_| text(&line))),
                Ok(None) => {
                    events.push(json!("end of stream"));
                    break;
                }
                Err(why) => return Answer::nothing(format!("after {} events: {why}", events.len())),
            }
        }
        Answer::head(&self.response, Content::Events(events))
    }

    async fn next_line(&mut self) -> Result<Option<Vec<u8>>, String> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.unread.drain(..=end).collect()));
            }
            match self.response.body_mut().frame().await {
                Some(Ok(frame)) => self.unread.extend(frame.into_data().unwrap_or_default()),
                Some(Err(error)) => return Err(error.to_string()),
                None => return Ok(None),
            }
        }
    }
}

async fn whole(mut response: Response<Body>) -> Answer {
    let bytes: Bytes = match response.body_mut().collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) => return Answer::nothing(error.to_string()),
    };
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text(&bytes));
    Answer::head(&response, Content::Whole(body))
}

fn text(bytes: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(bytes).into_owned())
}

fn prepared(step: &Step, known: &Value) -> Result<Request<Body>, String> {
    let body = match (&step.json, &step.text, &step.base64) {
        (Some(value), None, None) => {
            let mut value = value.clone();
            fill_all(&mut value, known)?;
            value.to_string().into_bytes()
        }
        (None, Some(text), None) => fill(text, known)?.into_bytes(),
        (None, None, Some(text)) => BASE64_STANDARD.decode(text).map_err(|error| error.to_string())?,
        (None, None, None) => Vec::new(),
        _ => return Err("more than one body".to_owned()),
    };
    let mut headers = Vec::new();
    match &step.content_type {
        Some(content_type) => headers.push(("content-type", content_type.clone())),
        None if !body.is_empty() => headers.push(("content-type", "application/json".to_owned())),
        None => {}
    }
    headers.push(("accept", step.accept.clone().unwrap_or_else(|| "application/json".to_owned())));
    headers.extend(step.headers.iter().map(|(name, value)| (name.as_str(), value.clone())));
    request(&fill(&step.send, known)?, &headers, body)
}

fn request(send: &str, headers: &[(&str, String)], body: Vec<u8>) -> Result<Request<Body>, String> {
    let (method, path) = send.split_once(' ').ok_or("a step sends `METHOD /path`")?;
    let mut builder = Request::builder().method(method).uri(path);
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        builder = builder.header(*name, value);
    }
    builder.body(Body::from(body)).map_err(|error| error.to_string())
}
