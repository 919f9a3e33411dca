//! The discs everybody can put into a server.

use serde::Serialize;

use super::deprecation::Deprecation;
use super::field::{Field, Fields, Once};
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
    let (mut ids, mut names) = (Once::new("id"), Once::new("name"));
    list.each(|fields| {
        if fields.by_api() && fields.maybe("type").and_then(Field::text) == Some("private") {
            return None;
        }
        let iso = iso(&fields);
        fields.done();
        let (sheet, place) = (fields.whole.sheet, fields.whole.place());
        if let Some(iso) = &iso {
            ids.see(iso.id, sheet, place);
            names.see(iso.name.clone(), sheet, place);
        }
        iso
    })
}

fn iso(fields: &Fields<'_>) -> Option<Iso> {
    let (id, name, description) = (fields.id(), fields.text("name"), fields.text("description"));
    let architecture = fields.maybe("architecture").and_then(|field| field.one_of(&Architecture::WORDS));
    let deprecation = Deprecation::read(fields);
    Some(Iso { id: id?, name: name?, description: description?, architecture, deprecation })
}
