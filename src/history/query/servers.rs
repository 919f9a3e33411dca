//! Servers of the cloud, or what stands in their place.

use super::track::Seen;
use super::{Tracks, claims, machines};
use crate::history::{Change, History, What};
use crate::terms::{Api, CLAIM_LABEL, Provider};

/// The label by which a server says to which pool it belongs.
pub const POOL_LABEL: &str = Provider::Hetzner.pool_label();

/// A server at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: String,
    /// The pool it says it belongs to.
    pub pool: Option<String>,
    /// The claim it says it was made for.
    pub claim: Option<String>,
}

/// The tracks of all servers, by id; of what stands in their place, by number.
pub fn servers(history: &History) -> Tracks<u64, Server> {
    match history.header.subject.provider {
        Provider::Hetzner => of_the_cloud(history),
        Provider::Clusterapi => machines::servers(history),
        // A claim is no server where there are servers: what was claimed need not have been made.
        Provider::Karpenter if has_cloud(history) => of_the_cloud(history),
        Provider::Karpenter => claims::servers(history),
    }
}

/// Whether there is anything of a cloud.
fn has_cloud(history: &History) -> bool {
    history.events.iter().any(|event| match &event.what {
        What::Server(_) => true,
        What::Call(call) => call.to == Api::Cloud,
        _ => false,
    })
}

/// The tracks of servers of the cloud, by id.
pub(super) fn of_the_cloud(history: &History) -> Tracks<u64, Server> {
    let mut tracks: Tracks<u64, Server> = Tracks::new();
    for (event, happened) in history.events.iter().enumerate() {
        let What::Server(server) = &happened.what else { continue };
        let state = (server.change != Change::Deleted).then(|| Server {
            name: server.name.clone(),
            status: server.status.clone(),
            pool: Provider::pool_named(&server.labels).cloned(),
            claim: server.labels.get(CLAIM_LABEL).cloned(),
        });
        tracks.entry(server.id).or_default().seen.push(Seen { event, at: happened.at, state });
    }
    tracks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::history::ServerEvent;
    use crate::history::query::leases::tests::history;

    #[test]
    fn a_server_belongs_to_the_pool_it_is_labelled_with_until_it_is_gone() {
        let event = |change| {
            What::Server(ServerEvent {
                change,
                id: 7,
                name: "a".into(),
                status: "running".into(),
                machine: "cx33".into(),
                location: "fsn1".into(),
                labels: BTreeMap::from([(POOL_LABEL.to_owned(), "small".to_owned())]),
                by: String::new(),
            })
        };
        let history = history(vec![(0, event(Change::Added)), (9, event(Change::Deleted))]);
        let track = &servers(&history)[&7];
        assert_eq!(track.at(history.events[0].at).and_then(|server| server.pool.as_deref()), Some("small"));
        assert_eq!(track.at(history.events[1].at), None);
    }
}
