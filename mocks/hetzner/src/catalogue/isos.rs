//! The discs everybody can put into a server.

use serde::Serialize;

use super::deprecation::Deprecation;
use super::field::{Field, Fields, Seen};
use super::server_types::Architecture;

/// A public ISO image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Iso {
    /// Its id.
    pub id: u64,
    /// Its file name.
    pub name: String,
    /// A line for people.
    pub description: String,
    /// What it runs on; none where it runs on all.
    pub architecture: Option<Architecture>,
    /// When it goes.
    pub deprecation: Option<Deprecation>,
}

/// The list `isos`, without the private ones of a captured list.
pub(super) fn read(list: Field<'_>) -> Vec<Iso> {
    let mut seen = Seen::new("id", "name");
    list.each(|fields| {
        if fields.by_api() && fields.maybe("type").and_then(Field::text) == Some("private") {
            return None;
        }
        let iso = iso(&fields, &mut seen);
        fields.done();
        iso
    })
}

fn iso(fields: &Fields<'_>, seen: &mut Seen) -> Option<Iso> {
    let (id, name) = fields.id_and_name(seen);
    let description = fields.text("description");
    let architecture = fields.maybe("architecture").and_then(|field| field.one_of(&Architecture::WORDS));
    let deprecation = Deprecation::read(fields);
    Some(Iso { id: id?, name: name?, description: description?, architecture, deprecation })
}
