//! The shell for the Hetzner Cloud API: lists with their caches, servers bought and given back.
//!
//! What only reads is asked again when that may help. To create is never repeated: the answer may be lost and the
//! server be there, and then its label tells whose it is.

mod http;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hyper::Method;
use mock_clock::{Clock as _, Time, VirtualClock};
use serde_json::{Value, json};

pub(crate) use http::CloudError;
use http::{Endpoint, escaped};

use crate::defect::Defect;
use crate::settings::{Pool, Settings};
use crate::view::{Offer, Resources, Server};

/// How long a list of servers, and one of server types, is good enough.
const SERVERS_LAST: Duration = Duration::from_secs(60);
const OFFERS_LAST: Duration = Duration::from_secs(600);
const PAGE: usize = 50;
/// How often a question is asked.
const TRIES: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// A client of the API.
#[derive(Clone, Debug)]
pub(crate) struct Hetzner {
    endpoint: Endpoint,
    clock: VirtualClock,
    settings: Settings,
}

/// What was listed, and when.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    servers: Option<(Time, Vec<Server>)>,
    offers: Option<(Time, BTreeMap<String, Offer>)>,
}

/// Longer than any run.
const FOR_EVER: Duration = Duration::from_secs(365 * 86_400);

impl Listed {
    /// The list of servers is outdated: something was bought or given back.
    pub(crate) fn forget_servers(&mut self) {
        self.servers = None;
    }
}

impl Hetzner {
    pub(crate) fn new(settings: Settings, clock: VirtualClock) -> Result<Self, String> {
        let mut endpoint = Endpoint::parse(&settings.endpoint, &settings.token)?;
        if settings.has(Defect::AlwaysHealthy) {
            endpoint = endpoint.with_patience(FOR_EVER);
        }
        Ok(Self { endpoint, clock, settings })
    }

    /// All servers of the project, from a list that is young enough.
    pub(crate) async fn servers(&self, listed: &mut Listed) -> Result<Vec<Server>, CloudError> {
        let last =
            if self.settings.has(Defect::NeverListsServersAgain) { Duration::MAX } else { SERVERS_LAST };
        if let Some((at, servers)) = &listed.servers
            && self.clock.now().since(*at) < last
            && !self.settings.has(Defect::ListsInEveryLoop)
        {
            return Ok(servers.clone());
        }
        let mut servers: Vec<Server> = match self.all("servers").await {
            Err(_) if self.settings.has(Defect::TrustsFailedList) => Vec::new(),
            answer => answer?.iter().map(server).collect::<Option<_>>().ok_or_else(|| wrong("server"))?,
        };
        // Between two pages a server may move, and be on both.
        let mut seen = BTreeSet::new();
        servers.retain(|server| seen.insert(server.id));
        listed.servers = Some((self.clock.now(), servers.clone()));
        Ok(servers)
    }

    /// All server types by name, from a list that is young enough.
    pub(crate) async fn offers(&self, listed: &mut Listed) -> Result<BTreeMap<String, Offer>, CloudError> {
        if let Some((at, offers)) = &listed.offers
            && self.clock.now().since(*at) < OFFERS_LAST
        {
            return Ok(offers.clone());
        }
        let all = self.all("server_types").await?;
        let offers: Option<BTreeMap<String, Offer>> =
            all.iter().map(|value| offer(value).map(|offer| (offer.name.clone(), offer))).collect();
        let offers = offers.ok_or_else(|| wrong("server type"))?;
        listed.offers = Some((self.clock.now(), offers.clone()));
        Ok(offers)
    }

    /// The network that servers shall be in, if one was configured.
    pub(crate) async fn network(&self) -> Result<Option<u64>, CloudError> {
        let Some(wanted) = &self.settings.network else { return Ok(None) };
        let found = match wanted.parse::<u64>() {
            Ok(id) => {
                self.ask(&format!("/networks/{id}")).await.map(|answer| answer["network"]["id"].as_u64())
            }
            Err(_) => self
                .ask(&format!("/networks?name={}", escaped(wanted)))
                .await
                .map(|answer| answer["networks"][0]["id"].as_u64()),
        };
        let found = match found {
            Err(e) if e.is_not_found() => None,
            other => other?,
        };
        if found.is_none() && !self.settings.has(Defect::IgnoresMissingNetwork) {
            return Err(CloudError::Failed(format!("there is no network {wanted:?} (HCLOUD_NETWORK)")));
        }
        Ok(found)
    }

    /// The image for machines of the pool: by id, by name, or the newest snapshot that a selector matches.
    async fn image(&self, pool: &Pool, offer: &Offer) -> Result<u64, CloudError> {
        let wanted = pool.images.get(offer.kubernetes_architecture()).unwrap_or(&self.settings.image);
        let architecture = &offer.architecture;
        if self.settings.has(Defect::TakesAnyImage) {
            let any = self.ask(&format!("/images?architecture={architecture}&status=available")).await?;
            return any["images"][0]["id"].as_u64().ok_or_else(|| wrong("image"));
        }
        if let Ok(id) = wanted.parse::<u64>() {
            let found = self.ask(&format!("/images/{id}")).await;
            if found.is_ok() {
                return Ok(id);
            }
        }
        let name = escaped(wanted);
        let common = format!("/images?architecture={architecture}");
        for query in [
            format!("{common}&include_deprecated=true&name={name}"),
            format!("{common}&label_selector={name}&sort=created:desc&status=available&type=snapshot"),
        ] {
            let found = match self.ask(&query).await {
                // A name that is no selector either.
                Err(CloudError::Refused { status: 400 | 422, .. }) => continue,
                found => found?,
            };
            if let Some(id) = found["images"][0]["id"].as_u64() {
                return Ok(id);
            }
        }
        Err(CloudError::Failed(format!("there is no image {wanted:?} for {architecture}")))
    }

    /// Every page of a list.
    async fn all(&self, what: &str) -> Result<Vec<Value>, CloudError> {
        let (mut all, mut page) = (Vec::new(), 1);
        loop {
            let path = format!("/{what}?page={page}&per_page={PAGE}");
            let answer = self.again(|| self.endpoint.list(&path)).await?;
            let items = answer[what].as_array().ok_or_else(|| wrong(what))?;
            all.extend(items.iter().cloned());
            match answer["meta"]["pagination"]["next_page"].as_u64() {
                Some(next) if next > page => page = next,
                _ => return Ok(all),
            }
        }
    }

    /// A question that changes nothing, and must be answered soon.
    async fn ask(&self, path: &str) -> Result<Value, CloudError> {
        self.again(|| self.endpoint.call(&self.clock, Method::GET, path, None)).await
    }

    /// Asks again while that may help. Whoever is told to slow down asks in the next loop.
    async fn again<F: Future<Output = Result<Value, CloudError>>>(
        &self,
        ask: impl Fn() -> F,
    ) -> Result<Value, CloudError> {
        let mut pause = FIRST_PAUSE;
        let mut tries = 1;
        loop {
            let error = match ask().await {
                Err(error) if error.may_pass() => error,
                answer => return answer,
            };
            let stubborn = error.is_conflict() && self.settings.has(Defect::DoublesConflictWait);
            let rash = error.is_limit() && self.settings.has(Defect::HammersWhenLimited) && tries < 50;
            let last = tries >= TRIES || error.is_limit();
            if last && !stubborn && !rash {
                return Err(error);
            }
            tracing::debug!("asking again: {error}");
            self.clock.sleep(if rash { Duration::from_millis(100) } else { pause }).await;
            pause *= 2;
            tries += 1;
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, CloudError> {
        self.endpoint.call(&self.clock, Method::POST, path, Some(body)).await
    }

    /// Deletes a server; what is in the way for a moment is waited for.
    pub(crate) async fn delete(&self, server: u64) -> Result<(), CloudError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..TRIES {
            let answer =
                self.endpoint.call(&self.clock, Method::DELETE, &format!("/servers/{server}"), None).await;
            match answer {
                Err(error) if error.is_conflict() || error.is_limit() => {}
                answer => return answer.map(drop),
            }
            self.clock.sleep(pause).await;
            pause *= 2;
        }
        self.endpoint.call(&self.clock, Method::DELETE, &format!("/servers/{server}"), None).await.map(drop)
    }
}

fn wrong(what: &str) -> CloudError {
    CloudError::Lost(format!("an answer without a readable {what}"))
}

fn server(value: &Value) -> Option<Server> {
    let label = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    let id = value["id"].as_u64()?;
    Some(Server {
        id,
        provider_id: provider_id(id),
        name: value["name"].as_str()?.to_owned(),
        status: value["status"].as_str()?.to_owned(),
        labels: value["labels"].as_object()?.iter().filter_map(label).collect(),
    })
}

fn offer(value: &Value) -> Option<Offer> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the API tells a few gigabytes, as a fraction if need be"
    )]
    let bytes = |gigabytes: f64| (gigabytes * 1_073_741_824.0) as u64;
    let disk = bytes(value["disk"].as_f64()?);
    let location = |price: &Value| price["location"].as_str().map(str::to_owned);
    Some(Offer {
        id: value["id"].as_u64()?,
        name: value["name"].as_str()?.to_lowercase(),
        resources: Resources {
            cpu: value["cores"].as_u64()? * 1000,
            memory: bytes(value["memory"].as_f64()?),
            pods: 110,
            other: [("ephemeral-storage".to_owned(), disk)].into(),
        },
        architecture: value["architecture"].as_str()?.to_owned(),
        locations: value["prices"].as_array()?.iter().filter_map(location).collect(),
    })
}

/// What is sent to create a server.
fn order(pool: &Pool, name: &str, offer: &Offer, image: u64, network: Option<u64>) -> Value {
    let mut labels = pool.server_labels.clone();
    labels.insert(crate::view::POOL_LABEL.to_owned(), pool.name.clone());
    let mut order = json!({
        "name": name,
        "server_type": offer.id,
        "image": image,
        "location": pool.location,
        "user_data": pool.cloud_init,
        "start_after_create": true,
        "labels": labels,
        "public_net": {"enable_ipv4": true, "enable_ipv6": true},
    });
    if let Some(network) = network {
        order["networks"] = json!([network]);
    }
    order
}

/// What the node of a server calls it.
pub(crate) fn provider_id(server: u64) -> String {
    format!("hcloud://{server}")
}
