//! What an action brings about when it ends: each room's own, gathered.

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::project::Project;
use crate::resource::{
    certificate, firewall, floating_ip, image, load_balancer, network, primary_ip, server, volume,
};

/// Gathers the effects of the rooms, each of which has a `settle` of its own.
macro_rules! effects {
    ($($room:ident as $name:ident),* $(,)?) => {
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum Effect {
            /// All was done when the action began; only the waiting remains.
            #[default]
            Nothing,
            $($name($room::Effect),)*
        }

        impl Effect {
            /// Lets it happen, or undoes what was reserved for it if the action failed.
            pub(crate) fn settle(self, project: &mut Project, now: Time, success: bool) {
                match self {
                    Self::Nothing => {}
                    $(Self::$name(effect) => effect.settle(project, now, success),)*
                }
            }
        }

        $(impl From<$room::Effect> for Effect {
            fn from(effect: $room::Effect) -> Self {
                Self::$name(effect)
            }
        })*
    };
}

effects! {
    certificate as Certificate,
    firewall as Firewall,
    floating_ip as FloatingIp,
    image as Image,
    load_balancer as LoadBalancer,
    network as Network,
    primary_ip as PrimaryIp,
    server as Server,
    volume as Volume,
}
