//! Each trouble bites, tells so, and is over when it is healed.

mod deeds;
mod determined;
mod orders;
mod requests;
mod sight;
mod spoken;
mod work;

use serde_json::Value;

use crate::rig::Rig;
use crate::trouble::{Trouble, TroubleId};

impl Rig {
    pub(crate) fn inject(&mut self, trouble: &Value) -> TroubleId {
        let trouble: Trouble = trouble.to_string().parse().unwrap();
        self.engine.inject(self.now, trouble).unwrap()
    }

    pub(crate) fn heal(&mut self, id: TroubleId) {
        assert!(self.engine.heal(self.now, id));
        assert!(!self.engine.heal(self.now, id), "nothing is healed twice");
    }

    pub(crate) fn bites(&self, id: TroubleId) -> u64 {
        let all = self.engine.troubles(self.now);
        let report = all.iter().find(|report| report.id == id).unwrap();
        assert_eq!(report.first_bite.is_some(), report.bites > 0);
        report.bites
    }

    pub(crate) fn status_of(&mut self, id: u64) -> String {
        self.get(&format!("/servers/{id}"))["server"]["status"].as_str().unwrap().to_owned()
    }

    /// The names that the list of servers shows.
    pub(crate) fn listed(&mut self) -> Vec<String> {
        let all = self.get("/servers");
        all["servers"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// Status, code and message of an answer.
fn told((status, answer): (u16, Value)) -> (u16, String, String) {
    let text = |field: &str| answer["error"][field].as_str().unwrap_or_default().to_owned();
    (status, text("code"), text("message"))
}
