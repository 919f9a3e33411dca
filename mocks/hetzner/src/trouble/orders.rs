//! Troubles of orders: sold out, less allowed, no addresses, no room.

use mock_clock::Time;

use crate::call::Wrong;
use crate::project::Project;
use crate::resource::shelf::Head;
use crate::trouble::form::TroubleError;
use crate::trouble::target::{fits, likes};
use crate::trouble::what::{Shortage, What};

/// What a project may have so many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limited {
    Servers,
    Cores,
    PrimaryIps,
}

impl Project {
    /// Refuses if a type is sold out in a location.
    pub(crate) fn in_stock(&mut self, now: Time, server_type: &str, location: &str) -> Result<(), Wrong> {
        let concerns = |what: &What| match what {
            What::SoldOut { server_type: of, location: at, refused_as, message }
                if likes(of.as_ref(), server_type) && likes(at.as_ref(), location) =>
            {
                Some(sold_out(*refused_as, of.is_none(), message.clone()))
            }
            _ => None,
        };
        let picked = self.troubles.picked(now, concerns);
        self.troubles.bite(now, picked).map_or(Ok(()), Err)
    }

    /// Whether a trouble allows less than this. It is only asked if it would be enough otherwise.
    pub(crate) fn less_allowed(&mut self, now: Time, limited: Limited, wanted: u64) -> bool {
        let concerns = |what: &What| {
            let What::Quota { servers, cores, primary_ips } = what else { return None };
            let allowed = match limited {
                Limited::Servers => servers,
                Limited::Cores => cores,
                Limited::PrimaryIps => primary_ips,
            };
            allowed.filter(|allowed| *allowed < wanted)
        };
        let picked = self.troubles.picked(now, concerns);
        self.troubles.bite(now, picked).is_some()
    }

    /// Refuses if there is no public address left in a location.
    pub(crate) fn addresses_left(&mut self, now: Time, location: &str) -> Result<(), Wrong> {
        let picked = self.troubles.picked(now, |what| match what {
            What::NoAddresses { location: at } => likes(at.as_ref(), location).then_some(()),
            _ => None,
        });
        let none = || {
            Wrong::new("resource_unavailable", format!("no IP address is available in location {location}"))
        };
        self.troubles.bite(now, picked).map_or(Ok(()), |()| Err(none()))
    }

    /// Refuses if there is no room for a volume in a location.
    pub(crate) fn volume_space(&mut self, now: Time, location: &str) -> Result<(), Wrong> {
        let picked = self.troubles.picked(now, |what| match what {
            What::NoVolumeSpace { location: at } => likes(at.as_ref(), location).then_some(()),
            _ => None,
        });
        let none = || {
            Wrong::new(
                "no_space_left_in_location",
                format!("there is no volume space left in location {location}"),
            )
        };
        self.troubles.bite(now, picked).map_or(Ok(()), |()| Err(none()))
    }
}

fn sold_out(refused_as: Shortage, whole_location: bool, message: Option<String>) -> Wrong {
    match refused_as {
        Shortage::ResourceUnavailable => {
            let usual = if whole_location { "server location disabled" } else { "error during placement" };
            Wrong::new("resource_unavailable", message.unwrap_or_else(|| usual.to_owned()))
        }
        Shortage::InvalidInput => {
            let usual = "unsupported location for server type";
            Wrong::invalid_saying("location", message.unwrap_or_else(|| usual.to_owned()))
        }
        Shortage::PlacementError => {
            Wrong::new("placement_error", message.unwrap_or_else(|| "error during placement".to_owned()))
        }
    }
}

impl Project {
    /// Refuses a trouble about something that the catalogue has not: it could never bite.
    pub(crate) fn known(&self, what: &What) -> Result<(), TroubleError> {
        let catalogue = &self.catalogue;
        let types: Vec<&str> = catalogue.server_types.iter().map(|it| it.name.as_str()).collect();
        let places: Vec<&str> = catalogue.locations.iter().map(|it| it.name.as_str()).collect();
        match what {
            What::SoldOut { server_type, location, .. } => {
                named("server_type", server_type.as_ref(), &types)?;
                named("location", location.as_ref(), &places)
            }
            What::NoAddresses { location } | What::NoVolumeSpace { location } => {
                named("location", location.as_ref(), &places)
            }
            What::Retired { server_type } if !types.contains(&server_type.as_str()) => {
                named("server_type", Some(&server_type.replace('*', "")), &types)
            }
            What::Vanished { image } => {
                let is = |head: &Head| head.name == *image || head.id.to_string() == *image;
                let known = self.images.all().any(|it| is(&it.head));
                if known { Ok(()) } else { Err(TroubleError::new(format!("there is no image {image:?}"))) }
            }
            _ => what.things().map_or(Ok(()), |of| {
                named("of.server_type", of.server_type.as_ref(), &types)?;
                named("of.location", of.location.as_ref(), &places)
            }),
        }
    }
}

/// Whether a pattern is like one of these at least.
fn named(field: &str, pattern: Option<&String>, all: &[&str]) -> Result<(), TroubleError> {
    match pattern {
        Some(pattern) if !all.iter().any(|it| fits(pattern, it)) => {
            Err(TroubleError::new(format!("'{field}' {pattern:?} is none of {}", all.join(", "))))
        }
        _ => Ok(()),
    }
}
