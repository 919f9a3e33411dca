//! The images everybody has: systems and apps. Snapshots and backups belong to a project.

use mock_clock::Time;
use serde::Serialize;

use super::deprecation::Deprecation;
use super::field::{Field, Fields, IDS, Once};
use super::server_types::Architecture;

/// An image, for one architecture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Image {
    /// Its id.
    pub id: u64,
    /// Its name, such as `ubuntu-24.04`, which it shares with the image for the other architecture.
    pub name: String,
    /// What it is.
    pub kind: ImageKind,
    /// A line for people.
    pub description: String,
    /// The distribution, such as `ubuntu`.
    pub os_flavor: String,
    /// Its version; none where it has no number.
    pub os_version: Option<String>,
    /// What it runs on.
    pub architecture: Architecture,
    /// The least disk it needs, in GB.
    pub disk_size: f64,
    /// Since when there is one.
    pub created: Time,
    /// Whether a server with it starts fast.
    pub rapid_deploy: bool,
    /// When it was told to go, and when it goes.
    pub deprecation: Option<Deprecation>,
}

impl Image {
    /// From when on it is deprecated.
    pub fn deprecated(&self) -> Option<Time> {
        self.deprecation.map(|deprecation| deprecation.announced)
    }
}

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageKind {
    /// A bare distribution.
    System,
    /// A distribution with a program on it.
    App,
}

impl ImageKind {
    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::App => "app",
        }
    }
}

/// The words for kinds.
const WRITTEN_KINDS: [(&str, ImageKind); 2] = [("system", ImageKind::System), ("app", ImageKind::App)];

/// The API's words for kinds; a captured list also has the images of the project that it was captured from.
const CAPTURED_KINDS: [(&str, Option<ImageKind>); 4] = [
    ("system", Some(ImageKind::System)),
    ("app", Some(ImageKind::App)),
    ("snapshot", None),
    ("backup", None),
];

/// The list `images`.
pub(super) fn read(list: Field<'_>) -> Vec<Image> {
    let (mut ids, mut names) = (Once::new("id"), Once::new("image"));
    let mut images = Vec::new();
    for field in list.list() {
        let Some(fields) = field.fields() else { continue };
        let found = if fields.by_api() { captured(&fields) } else { written(&fields) };
        fields.done();
        for image in found {
            ids.see(image.id, field.sheet, field.place());
            names.see(
                format!("{} for {}", image.name, image.architecture.as_str()),
                field.sheet,
                field.place(),
            );
            images.push(image);
        }
    }
    images
}

/// An entry by a person: one image for each architecture in `ids`.
fn written(fields: &Fields<'_>) -> Vec<Image> {
    let ids = fields.need("ids").and_then(Field::fields);
    let id = |name| ids.as_ref()?.maybe(name)?.integer(IDS);
    let found = [(id("x86"), Architecture::X86), (id("arm"), Architecture::Arm)];
    if let Some(ids) = &ids {
        ids.done();
    }
    let kind = fields.need("type").and_then(|field| field.one_of(&WRITTEN_KINDS));
    let Some(any) = image(fields, kind, 0, Architecture::X86) else { return Vec::new() };
    let of = |(id, architecture): (Option<u64>, _)| Some(Image { id: id?, architecture, ..any.clone() });
    found.into_iter().filter_map(of).collect()
}

/// An entry of the API.
fn captured(fields: &Fields<'_>) -> Vec<Image> {
    let Some(kind) = fields.need("type").and_then(|field| field.one_of(&CAPTURED_KINDS)) else {
        return Vec::new();
    };
    if kind.is_none() {
        return Vec::new();
    }
    let architecture = fields.need("architecture").and_then(|field| field.one_of(&Architecture::WORDS));
    let (Some(id), Some(architecture)) = (fields.integer("id", IDS), architecture) else { return Vec::new() };
    image(fields, kind, id, architecture).into_iter().collect()
}

fn image(fields: &Fields<'_>, kind: Option<ImageKind>, id: u64, architecture: Architecture) -> Option<Image> {
    let name = fields.text("name");
    let description = fields.text("description");
    let os_flavor = fields.text("os_flavor");
    let os_version = fields.maybe("os_version").and_then(|field| field.text().map(str::to_owned));
    let disk_size = fields.need("disk_size").and_then(|field| field.float(0.1..=100_000.0));
    let created = fields.need("created").and_then(Field::time);
    let rapid_deploy = fields.maybe("rapid_deploy").map_or(Some(false), Field::flag);
    let deprecation = Deprecation::read(fields).or_else(|| deprecated(fields));
    Some(Image {
        id,
        name: name?,
        kind: kind?,
        description: description?,
        os_flavor: os_flavor?,
        os_version,
        architecture,
        disk_size: disk_size?,
        created: created?,
        rapid_deploy: rapid_deploy?,
        deprecation,
    })
}

/// The older field of the API, which tells no end: three months, as its documents promise.
fn deprecated(fields: &Fields<'_>) -> Option<Deprecation> {
    if !fields.by_api() {
        return None;
    }
    let announced = fields.maybe("deprecated")?.time()?;
    let unavailable_after = announced + std::time::Duration::from_secs(91 * 24 * 3600);
    Some(Deprecation { announced, unavailable_after })
}
