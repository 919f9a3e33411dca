//! Servers of the cloud, or what stands in their place.

use super::track::Seen;
use super::{Tracks, claims, machines};
use crate::history::{Change, History, What};
use crate::terms::Provider;

/// The label by which a server says to which pool it belongs.
pub const POOL_LABEL: &str = "hcloud/node-group";

/// A server at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: String,
    /// The pool it says it belongs to.
    pub pool: Option<String>,
}

/// The tracks of all servers, by id; of what stands in their place, by number.
pub fn servers(history: &History) -> Tracks<u64, Server> {
    match history.header.subject.provider {
        Provider::Hetzner => {}
        Provider::Clusterapi => return machines::servers(history),
        Provider::Karpenter => return claims::servers(history),
    }
    let mut tracks: Tracks<u64, Server> = Tracks::new();
    for (event, happened) in history.events.iter().enumerate() {
        let What::Server(server) = &happened.what else { continue };
        let state = (server.change != Change::Deleted).then(|| Server {
            name: server.name.clone(),
            status: server.status.clone(),
            pool: server.labels.get(POOL_LABEL).cloned(),
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
