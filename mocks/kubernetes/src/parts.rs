//! The steps of a write, one by one, for the benchmarks alone: nothing here is meant for users of the crate.

use mock_clock::{Mode, VirtualClock};
use serde_json::Value;

use crate::api::{Api, Patch, Target, Write};
use crate::{birth, protobuf, schema};

/// An API without a wire, and the pod it works on.
#[derive(Debug)]
pub struct Parts {
    api: Api,
    body: Value,
    protobuf: Vec<u8>,
    name: String,
    count: u64,
}

impl Parts {
    /// `body` is a pod with a name.
    pub fn new(body: &[u8]) -> Option<Self> {
        let api = Api::new(VirtualClock::start(Mode::Real, None).ok()?, 0);
        birth::furnish(&api).ok()?;
        let body: Value = serde_json::from_slice(body).ok()?;
        let name = body["metadata"]["name"].as_str()?.to_owned();
        let mut parts = Self { api, body, protobuf: Vec::new(), name, count: 0 };
        let whole = parts.create(&parts.body.clone())?;
        parts.body = serde_json::from_slice(&whole).ok()?;
        parts.protobuf = parts.encode()?;
        Some(parts)
    }

    /// JSON to a value.
    pub fn read(&self, body: &[u8]) -> Option<Value> {
        Some(schema::read(body).ok()?.value)
    }

    /// A value to what its Go struct makes of it.
    pub fn conform(&self) -> Option<Value> {
        let mut value = self.body.clone();
        let message = schema::schema().kind("", "v1", "Pod")?;
        schema::conform(message.id.message(), &mut value).ok()?;
        Some(value)
    }

    /// All of a create but the reading, under a name of its own each time.
    pub fn create_another(&mut self, body: &Value) -> Option<usize> {
        let mut body = body.clone();
        self.count += 1;
        body["metadata"]["name"] = format!("pod-{}", self.count).into();
        self.create(&body).map(|json| json.len())
    }

    /// A strategic merge patch of a label.
    pub fn patch(&mut self) -> Option<u64> {
        self.count += 1;
        let resource = self.api.registry().find("", "v1", "pods")?.clone();
        let target = Target { resource: &resource, namespace: "default", name: &self.name, subresource: "" };
        let label = serde_json::json!({"metadata": {"labels": {"count": self.count.to_string()}}});
        let written = self.api.patch(&target, &Patch::Strategic(label), &Write::by("bench")).ok()?;
        Some(written.object.revision)
    }

    /// The stored pod as protobuf.
    pub fn encode(&self) -> Option<Vec<u8>> {
        protobuf::encode(&self.body).ok()
    }

    /// The same back.
    pub fn decode(&self) -> Option<Value> {
        protobuf::decode(&self.protobuf, ("", "")).ok()
    }

    fn create(&self, body: &Value) -> Option<bytes::Bytes> {
        let resource = self.api.registry().find("", "v1", "pods")?.clone();
        let written = self.api.create(&resource, "default", body.clone(), &Write::by("bench")).ok()?;
        Some(written.object.json.clone())
    }
}
