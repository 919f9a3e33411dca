//! The birth of a server: ordered, waited for, and taken back if it comes to nothing.

use std::time::Duration;

use mock_clock::{Clock as _, Time};
use serde_json::Value;

use super::{CloudError, Hetzner, order};
use crate::defect::Defect;
use crate::settings::Pool;
use crate::view::Offer;

/// How often actions are looked at: at first, and at last.
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_secs(10);
/// So many actions are asked for at a time.
const ACTIONS: usize = 25;

impl Hetzner {
    /// Buys a server and waits until it is there; gives its id. What fails on the way is deleted.
    pub(crate) async fn buy(
        &self,
        pool: &Pool,
        name: &str,
        offer: &Offer,
        network: Option<u64>,
    ) -> Result<u64, CloudError> {
        let began = self.clock.now();
        let image = self.image(pool, offer).await?;
        let body = order(pool, name, offer, image, network);
        let mut answer = self.post("/servers", &body).await;
        if self.settings.has(Defect::RepeatsLostCreate) && matches!(answer, Err(CloudError::Lost(_))) {
            let mut again = body.clone();
            again["name"] = Value::from(format!("{name}-2"));
            answer = self.post("/servers", &again).await;
        }
        let answer = answer?;
        let id = answer["server"]["id"].as_u64().ok_or_else(|| super::wrong("server"))?;
        let next = answer["next_actions"].as_array().cloned().unwrap_or_default();
        let actions: Vec<u64> = std::iter::once(&answer["action"])
            .chain(&next)
            .filter_map(|action| action["id"].as_u64())
            .collect();
        match self.finish(&actions, began).await {
            Ok(()) => Ok(id),
            Err((error, keep)) => {
                if !keep {
                    self.take_back(id).await;
                }
                Err(error)
            }
        }
    }

    /// Waits until all actions have succeeded. With the error comes whether the server is left as it is.
    async fn finish(&self, actions: &[u64], began: Time) -> Result<(), (CloudError, bool)> {
        let has = |defect| self.settings.has(defect);
        let deadline = began + self.settings.creation_timeout;
        let mut pause = FIRST_LOOK;
        loop {
            let now = self.clock.now();
            let last = now >= deadline;
            match self.look(actions).await {
                Ok(Progress::Done) => return Ok(()),
                Ok(Progress::Failed(why)) => {
                    return Err((CloudError::Failed(why), has(Defect::LeaksFailedServer)));
                }
                Ok(Progress::Running) => {}
                Err(error) if has(Defect::DestroysOnPollError) => return Err((error, false)),
                // A look that fails says nothing of the server.
                Err(error) => tracing::debug!("failed to look at actions: {error}"),
            }
            let blind =
                has(Defect::DestroysFinishedServer) && deadline <= now + self.settings.creation_timeout / 2;
            if blind {
                self.clock.sleep_until(deadline).await;
            }
            if last || blind {
                let why = format!("not created within {:?}", self.settings.creation_timeout);
                return Err((CloudError::Failed(why), has(Defect::LeaksTimedOutServer)));
            }
            self.clock.sleep_until((now + pause).min(deadline)).await;
            pause = (pause * 2).min(LAST_LOOK);
        }
    }

    async fn look(&self, actions: &[u64]) -> Result<Progress, CloudError> {
        let mut progress = Progress::Done;
        for some in actions.chunks(ACTIONS) {
            let ids: Vec<String> = some.iter().map(|id| format!("id={id}")).collect();
            let path = format!("/actions?{}&page=1&per_page=50", ids.join("&"));
            let answer = self.endpoint.call(&self.clock, hyper::Method::GET, &path, None).await?;
            let listed = answer["actions"].as_array().ok_or_else(|| super::wrong("action"))?;
            if listed.len() < some.len() {
                return Err(super::wrong("action"));
            }
            for action in listed {
                match action["status"].as_str() {
                    Some("success") => {}
                    Some("error") => {
                        let text = |key: &str| action["error"][key].as_str().unwrap_or_default().to_owned();
                        return Ok(Progress::Failed(format!("{}: {}", text("code"), text("message"))));
                    }
                    _ => progress = Progress::Running,
                }
            }
        }
        Ok(progress)
    }

    /// Deletes what did not come to be. If that fails, it is listed and found to have no node.
    pub(crate) async fn take_back(&self, id: u64) {
        match self.delete(id).await {
            Err(error) if !error.is_not_found() => tracing::warn!("failed to delete server {id}: {error}"),
            _ => {}
        }
    }
}

enum Progress {
    Running,
    Done,
    Failed(String),
}
