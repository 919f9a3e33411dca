//! What servers there are to buy.

use serde::{Deserialize, Serialize};

use super::deprecation::Deprecation;
use super::field::{Field, Fields, Once, Seen};
use super::price::{self, LocationPrice};

/// A server type.
///
/// What it costs and where it can be created are two lists, as in the API: a type may be priced where nobody can
/// create it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerType {
    /// Its id.
    pub id: u64,
    /// Its name, such as `cx23`.
    pub name: String,
    /// A line for people.
    pub description: String,
    /// The family; none in what was captured before the API had them.
    pub category: Option<String>,
    /// How many virtual processors.
    pub cores: u64,
    /// Memory in GB.
    pub memory: f64,
    /// Disk in GB.
    pub disk: u64,
    /// Where the disk is.
    pub storage_type: StorageType,
    /// Whether the processors are its own.
    pub cpu_type: CpuType,
    /// What its processors understand.
    pub architecture: Architecture,
    /// When it goes everywhere.
    pub deprecation: Option<Deprecation>,
    /// What it costs where.
    pub prices: Vec<LocationPrice>,
    /// Where it can be created.
    pub locations: Vec<Offer>,
}

impl ServerType {
    /// What it costs in this location.
    pub fn price(&self, location: &str) -> Option<&LocationPrice> {
        self.prices.iter().find(|price| price.location == location)
    }

    /// How it is offered in this location.
    pub fn offer(&self, location: &str) -> Option<&Offer> {
        self.locations.iter().find(|offer| offer.location == location)
    }
}

/// How a server type is offered in one location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// The name of the location.
    pub location: String,
    /// Whether it is said to be in stock, which in truth says little.
    pub available: bool,
    /// Whether it is recommended.
    pub recommended: bool,
    /// When it goes here.
    pub deprecation: Option<Deprecation>,
}

/// What processors understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// 64-bit Intel and AMD.
    X86,
    /// 64-bit ARM.
    Arm,
}

impl Architecture {
    pub(super) const WORDS: [(&'static str, Self); 2] = [("x86", Self::X86), ("arm", Self::Arm)];

    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::X86 => "x86",
            Self::Arm => "arm",
        }
    }
}

/// Whether processors are shared with other servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CpuType {
    /// With others.
    Shared,
    /// Its own.
    Dedicated,
}

impl CpuType {
    const WORDS: [(&'static str, Self); 2] = [("shared", Self::Shared), ("dedicated", Self::Dedicated)];

    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Dedicated => "dedicated",
        }
    }
}

/// Where a disk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StorageType {
    /// In the host.
    Local,
    /// Elsewhere.
    Network,
}

impl StorageType {
    const WORDS: [(&'static str, Self); 2] = [("local", Self::Local), ("network", Self::Network)];

    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Network => "network",
        }
    }
}

/// The list `server_types`.
pub(super) fn read(list: Field<'_>) -> Vec<ServerType> {
    let mut seen = Seen::new("id", "name");
    list.each(|fields| {
        let server_type = server_type(&fields, &mut seen);
        fields.done();
        server_type
    })
}

fn server_type(fields: &Fields<'_>, seen: &mut Seen) -> Option<ServerType> {
    let (id, name) = fields.id_and_name(seen);
    let description = fields.text("description");
    let category = fields.maybe("category").and_then(|field| field.text().map(str::to_owned));
    let cores = fields.integer("cores", 1..=1024);
    let memory = fields.need("memory").and_then(|field| field.float(0.125..=65_536.0));
    let disk = fields.integer("disk", 1..=1_000_000);
    let storage_type = fields.need("storage_type").and_then(|field| field.one_of(&StorageType::WORDS));
    let cpu_type = fields.need("cpu_type").and_then(|field| field.one_of(&CpuType::WORDS));
    let architecture = fields.need("architecture").and_then(|field| field.one_of(&Architecture::WORDS));
    let deprecation = Deprecation::read(fields);
    let prices = price::of_type(fields);
    let locations = offers(fields);
    Some(ServerType {
        id: id?,
        name: name?,
        description: description?,
        category,
        cores: cores?,
        memory: memory?,
        disk: disk?,
        storage_type: storage_type?,
        cpu_type: cpu_type?,
        architecture: architecture?,
        deprecation,
        prices: prices?,
        locations: locations?,
    })
}

/// The list `locations`: entries with a `name`, or with `names` where people wrote it.
fn offers(entry: &Fields<'_>) -> Option<Vec<Offer>> {
    let mut seen = Once::new("location");
    let mut offers = Vec::new();
    for field in entry.need("locations")?.list() {
        let Some(fields) = field.fields() else { continue };
        let many = if fields.by_api() { None } else { fields.maybe("names") };
        let names = match many {
            Some(names) => names.list(),
            None => fields.need("name").into_iter().collect(),
        };
        let flag = |name| fields.maybe(name).map_or(Some(true), |field: Field<'_>| field.flag());
        let (available, recommended) = (flag("available"), flag("recommended"));
        let deprecation = Deprecation::read(&fields);
        fields.done();
        let (Some(available), Some(recommended)) = (available, recommended) else { continue };
        for field in names {
            if let Some(location) = field.location() {
                seen.see(location.clone(), field.sheet, field.place());
                offers.push(Offer { location, available, recommended, deprecation });
            }
        }
    }
    Some(offers)
}
