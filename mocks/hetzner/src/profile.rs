//! How the API looked at a time. It changes by announcement, and clients of several years are in use at once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A state of the API, oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Profile {
    /// Datacenters everywhere, and server types that say nothing about locations.
    #[serde(rename = "2024")]
    Y2024,
    /// Just before the changes of July 2026: datacenters beside locations, both are shown.
    #[serde(rename = "2026-06")]
    June2026,
    /// After the changes of July and October 2026: locations only.
    #[default]
    #[serde(rename = "current")]
    Current,
}

impl Profile {
    const ALL: [(&'static str, Self); 3] =
        [("2024", Self::Y2024), ("2026-06", Self::June2026), ("current", Self::Current)];

    /// Servers and primary IPs are in a datacenter, and there is a list of those.
    pub(crate) fn has_datacenters(self) -> bool {
        self <= Self::June2026
    }

    /// Servers and primary IPs name their location, and server types and their prices say where they can be had.
    pub(crate) fn has_locations(self) -> bool {
        self >= Self::June2026
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, profile)| profile == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, profile)| *profile).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("there is no API profile '{text}'; choose one of {}", names.join(", "))
        })
    }
}
