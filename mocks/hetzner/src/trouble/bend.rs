//! The project bent into what troubles make of it, for one request, and bent back.
//!
//! Which troubles those are, and whether they bite, is decided where they are looked through.

use mock_clock::Time;

use crate::project::Project;
use crate::resource::image::Image;
use crate::resource::server::Server;
use crate::trouble::standing::Ghost;
use crate::trouble::what::{TroubleId, What};

/// What a request finds, bent by troubles; here is what it takes to bend it back.
#[derive(Default)]
pub(super) struct Bent {
    hidden: Vec<Server>,
    images: Vec<Image>,
    ghosts: Vec<u64>,
    ips: Vec<u64>,
    members: Vec<(u64, u64)>,
}

impl Project {
    /// Bends the project by some of the troubles, and lifts the others.
    pub(super) fn bend(&mut self, now: Time, all: &[TroubleId], under: &[TroubleId]) -> Bent {
        let mut bent = Bent::default();
        self.troubles.lifted = all.iter().copied().filter(|id| !under.contains(id)).collect();
        for id in under {
            let Some(standing) = self.troubles.get_mut(*id) else { continue };
            standing.catch_up(now);
            let standing = standing.clone();
            match standing.trouble.what {
                What::Vanished { image } => {
                    let is = |it: &&Image| it.head.name == image || it.head.id.to_string() == image;
                    let ids: Vec<u64> = self.images.all().filter(is).map(|it| it.head.id).collect();
                    bent.images.extend(ids.into_iter().filter_map(|id| self.images.take(id)));
                }
                What::Unseen { .. } => {
                    let unseen = standing.holds.unseen.into_keys();
                    bent.hidden.extend(unseen.filter_map(|id| self.servers.take(id)));
                }
                What::Lingering { .. } => {
                    for ghost in standing.holds.ghosts.into_values() {
                        self.show_ghost(ghost, &mut bent);
                    }
                }
                What::LateRelease { .. } => {
                    for (server, late) in standing.holds.members {
                        let group = self.placement_groups.find_mut(late.group);
                        if let Some(group) = group
                            && group.members.insert(server)
                        {
                            bent.members.push((late.group, server));
                        }
                    }
                }
                _ => {}
            }
        }
        bent
    }

    fn show_ghost(&mut self, ghost: Ghost, bent: &mut Bent) {
        for ip in ghost.ips {
            if self.primary_ips.find(ip.head.id).is_none() {
                bent.ips.push(self.primary_ips.put(ip));
            }
        }
        if self.servers.find(ghost.server.head.id).is_none() {
            bent.ghosts.push(self.servers.put(ghost.server));
        }
    }

    pub(super) fn unbend(&mut self, bent: Bent) {
        self.troubles.lifted.clear();
        for server in bent.hidden {
            self.servers.put(server);
        }
        for image in bent.images {
            self.images.put(image);
        }
        for id in bent.ghosts {
            self.servers.take(id);
        }
        for id in bent.ips {
            self.primary_ips.take(id);
        }
        for (group, server) in bent.members {
            if let Some(group) = self.placement_groups.find_mut(group) {
                group.members.remove(&server);
            }
        }
    }
}
