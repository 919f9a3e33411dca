//! What the actions of load balancers bring about. A balancer that is worked on takes no other change, so what was
//! checked at the request still holds at the end, except that servers and certificates may be gone.

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::project::Project;
use crate::resource::Kind;
use crate::resource::load_balancer::service::Service;
use crate::resource::load_balancer::target::Target;
use crate::resource::load_balancer::{Algorithm, LoadBalancer};

/// How a load balancer changes by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Effect {
    balancer: u64,
    change: Change,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    /// A service is new, or is this instead of that of the same port.
    Service(Service),
    ServiceDeleted(u16),
    Target(Target),
    TargetRemoved(Target),
    Algorithm(Algorithm),
    /// Its name in the catalogue.
    Type(String),
    PublicInterface(bool),
}

impl Change {
    pub(super) fn of(self, balancer: u64) -> Effect {
        Effect { balancer, change: self }
    }

    /// Whether everything that it points to is still there.
    fn is_possible(&self, project: &Project) -> bool {
        match self {
            Self::Service(service) => {
                service.certificates().iter().all(|id| project.certificates.find(*id).is_some())
            }
            Self::Target(target) => target.server().is_none_or(|id| project.servers.find(id).is_some()),
            _ => true,
        }
    }
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, now: Time, success: bool) {
        let Self { balancer: id, change } = self;
        if !success || !change.is_possible(project) {
            return;
        }
        let repriced = matches!(change, Change::Type(_));
        if let Some(balancer) = project.load_balancers.find_mut(id) {
            apply(balancer, change);
        }
        if repriced {
            project.repriced(now, Kind::LoadBalancer, id);
        }
    }
}

fn apply(balancer: &mut LoadBalancer, change: Change) {
    match change {
        Change::Service(service) => {
            match balancer.services.iter_mut().find(|it| it.listen_port == service.listen_port) {
                Some(before) => *before = service,
                None => balancer.services.push(service),
            }
        }
        Change::ServiceDeleted(port) => balancer.services.retain(|it| it.listen_port != port),
        Change::Target(target) => balancer.targets.push(target),
        Change::TargetRemoved(target) => balancer.targets.retain(|it| !it.is_same(&target)),
        Change::Algorithm(algorithm) => balancer.algorithm = algorithm,
        Change::Type(name) => balancer.balancer_type = name,
        Change::PublicInterface(enabled) => balancer.public = enabled,
    }
}
