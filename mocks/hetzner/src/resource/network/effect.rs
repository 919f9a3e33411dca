//! What the actions of networks bring about.

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::address::{Range, Subnet};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::network::draft::destinations;
use crate::resource::network::{Network, Route, places_of};

/// How networks, and who is in them, change by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// A reserved place is taken; it is free again if the action fails.
    Joined {
        kind: Kind,
        id: u64,
        network: u64,
    },
    /// A place is free again.
    Left {
        kind: Kind,
        id: u64,
        network: u64,
    },
    SubnetAdded {
        network: u64,
        subnet: Subnet,
    },
    /// It was taken away at once, so that nobody moved in, and comes back if the action fails.
    SubnetDeleted {
        network: u64,
        subnet: Subnet,
    },
    RouteAdded {
        network: u64,
        route: Route,
    },
    RouteDeleted {
        network: u64,
        route: Route,
    },
    Extended {
        network: u64,
        range: Range,
    },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, _now: Time, success: bool) {
        match self {
            Self::Joined { kind, id, network } => join(project, kind, id, network, success),
            Self::Left { kind, id, network } if success => leave(project, kind, id, network),
            // What was checked at the request still holds: nobody else changes a network meanwhile.
            Self::SubnetAdded { network, subnet } if success => change(project, network, |network| {
                let _ = network.plan.add_subnet(subnet, &destinations(&network.routes));
            }),
            Self::SubnetDeleted { network, subnet } if !success => change(project, network, |network| {
                let _ = network.plan.add_subnet(subnet, &destinations(&network.routes));
            }),
            Self::RouteAdded { network, route } if success => {
                change(project, network, |network| network.routes.push(route));
            }
            Self::RouteDeleted { network, route } if success => {
                change(project, network, |network| network.routes.retain(|it| *it != route));
            }
            Self::Extended { network, range } if success => change(project, network, |network| {
                let _ = network.plan.extend(range);
            }),
            _ => {}
        }
    }
}

/// Changes a network that is still there.
fn change(project: &mut Project, id: u64, how: impl FnOnce(&mut Network)) {
    if let Some(network) = project.networks.find_mut(id) {
        how(network);
    }
}

fn join(project: &mut Project, kind: Kind, id: u64, network: u64, success: bool) {
    let Some(places) = places_of(project, kind, id) else { return };
    if !success {
        places.retain(|place| place.network != network);
    }
    for place in places.iter_mut().filter(|place| place.network == network) {
        place.pending = false;
    }
}

/// Takes somebody out of a network. Targets that a load balancer reaches through it go, too.
pub(super) fn leave(project: &mut Project, kind: Kind, id: u64, network: u64) {
    if let Some(places) = places_of(project, kind, id) {
        places.retain(|place| place.network != network);
    }
    if let Some(balancer) = project.load_balancers.find_mut(id).filter(|_| kind == Kind::LoadBalancer) {
        balancer.forget_private_targets();
    }
}
