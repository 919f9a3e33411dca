//! What the cloud told of the making of servers: the actions of an order, and each look at them.

use std::collections::BTreeSet;

use mock_clock::Time;
use serde_json::Value;

use super::scene::went_wrong;
use crate::history::query::Order;
use crate::history::{CallEvent, Event, History, What};
use crate::terms::Api;

/// A look at the actions of an order.
pub(super) struct Look {
    pub(super) event: usize,
    pub(super) began: Time,
    pub(super) ended: Time,
    /// It had no good answer.
    pub(super) failed: bool,
    /// Its answer says that an action of the order has failed.
    pub(super) bad_news: bool,
}

/// All looks at the actions of an order, as they ended.
pub(super) fn looks(history: &History, order: &Order) -> Vec<Look> {
    let Some(Event { what: What::Call(call), .. }) = history.events.get(order.event) else {
        return Vec::new();
    };
    let actions = actions(call);
    let look = |(event, happened): (usize, &Event)| {
        let What::Call(call) = &happened.what else { return None };
        let asks = call.to == Api::Cloud && call.method == "GET" && !call.open && names(call, &actions);
        asks.then(|| Look {
            event,
            began: call.began,
            ended: happened.at,
            failed: went_wrong(call),
            bad_news: call.answer.as_ref().is_some_and(|answer| bad_news(answer, &actions)),
        })
    };
    history.events.iter().enumerate().filter_map(look).collect()
}

/// Whether it was asked until a moment that a server be switched on: then it is made when it runs, and not before.
pub(super) fn switched_on(history: &History, server: u64, until: Time) -> bool {
    history.events.iter().any(|event| match &event.what {
        What::Call(call) => {
            let named = call.path.strip_suffix("/actions/poweron").and_then(|path| path.rsplit('/').next());
            call.to == Api::Cloud
                && call.began <= until
                && named.and_then(|id| id.parse().ok()) == Some(server)
        }
        _ => false,
    })
}

/// The actions that the answer to an order tells.
fn actions(call: &CallEvent) -> BTreeSet<u64> {
    let Some(answer) = &call.answer else { return BTreeSet::new() };
    let next = answer["next_actions"].as_array().into_iter().flatten();
    next.chain([&answer["action"]]).filter_map(|action| action["id"].as_u64()).collect()
}

/// Whether a call asks for one of these actions.
fn names(call: &CallEvent, actions: &BTreeSet<u64>) -> bool {
    let named = |id: &str| id.parse().is_ok_and(|id: u64| actions.contains(&id));
    match call.path.rsplit_once("/actions") {
        Some((_, "")) => call.query.split('&').filter_map(|part| part.strip_prefix("id=")).any(named),
        Some((_, rest)) => rest.strip_prefix('/').is_some_and(named),
        None => false,
    }
}

fn bad_news(answer: &Value, actions: &BTreeSet<u64>) -> bool {
    let told = answer["actions"].as_array().into_iter().flatten().chain([&answer["action"]]);
    let ours = |action: &&Value| action["id"].as_u64().is_some_and(|id| actions.contains(&id));
    told.filter(ours).any(|action| action["status"] == "error")
}
