//! Reading the files of a catalogue: a folder's own, the built-in ones for the rest, and all mistakes together.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use super::error::{CatalogueError, Mistake};
use super::field::{Field, Hand, Sheet};
use super::node::Node;
use super::{Catalogue, images, isos, limits, load_balancer_types, locations, prices, server_types, timings};

/// The subjects in the order they are read: locations first, because the others name them.
const SUBJECTS: [&str; 8] =
    ["locations", "server_types", "images", "load_balancer_types", "isos", "prices", "limits", "timings"];

/// Those that the API lists, so that its answer can be a file.
const LISTED: [&str; 5] = ["locations", "server_types", "images", "load_balancer_types", "isos"];

/// The built-in files, in the order of [`SUBJECTS`].
const BUILTIN: [&str; 8] = [
    include_str!("../../catalogue/locations.yaml"),
    include_str!("../../catalogue/server_types.yaml"),
    include_str!("../../catalogue/images.yaml"),
    include_str!("../../catalogue/load_balancer_types.yaml"),
    include_str!("../../catalogue/isos.yaml"),
    include_str!("../../catalogue/prices.yaml"),
    include_str!("../../catalogue/limits.yaml"),
    include_str!("../../catalogue/timings.yaml"),
];

/// One file that was found.
struct Found {
    subject: &'static str,
    file: String,
    hand: Hand,
    text: String,
}

/// The catalogue of the built-in files.
pub(super) fn builtin() -> Result<Catalogue, CatalogueError> {
    let files = SUBJECTS.into_iter().zip(BUILTIN).map(|(subject, text)| Found {
        subject,
        file: format!("{subject}.yaml"),
        hand: Hand::Person,
        text: text.to_owned(),
    });
    let mut reading = Reading::default();
    files.for_each(|found| reading.read(&found, &[]));
    reading.end(None)
}

/// The catalogue of a folder, over the built-in one.
pub(super) fn load(folder: &Path) -> Result<Catalogue, CatalogueError> {
    let builtin = builtin()?;
    let mut reading = Reading::default();
    let mut found = Vec::new();
    for name in names(folder).map_err(|why| whole(folder, &why))? {
        let path = folder.join(&name);
        let file = path.display().to_string();
        let (subject, hand) = match subject(&name) {
            Ok(Some(known)) => known,
            Ok(None) => continue,
            Err(what) => {
                reading.mistakes.push(Mistake { file, place: None, what });
                continue;
            }
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => found.push(Found { subject, file, hand, text }),
            Err(why) => {
                reading.mistakes.push(Mistake { file, place: None, what: format!("cannot be read: {why}") });
            }
        }
    }
    for subject in SUBJECTS {
        let mut files = found.iter().filter(|found| found.subject == subject);
        if let Some(first) = files.next() {
            reading.read(first, &builtin.locations);
        } else if subject == "locations" {
            reading.known_locations(&builtin);
        }
        for double in files {
            let what = format!("there is another file of {subject} here; keep one of them");
            reading.mistakes.push(Mistake { file: double.file.clone(), place: None, what });
        }
    }
    reading.end(Some(builtin))
}

/// The names of what is in the folder, in order.
fn names(folder: &Path) -> std::io::Result<BTreeSet<String>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

fn whole(folder: &Path, why: &std::io::Error) -> CatalogueError {
    let what = format!("the folder of the catalogue cannot be read: {why}");
    CatalogueError { mistakes: vec![Mistake { file: folder.display().to_string(), place: None, what }] }
}

/// What a file of this name is about; none for a name that is no business of ours.
fn subject(name: &str) -> Result<Option<(&'static str, Hand)>, String> {
    let Some((stem, ending)) = name.rsplit_once('.') else { return Ok(None) };
    let (known, hand): (&[&str], _) = match ending {
        "yaml" => (&SUBJECTS, Hand::Person),
        "json" => (&LISTED, Hand::Api),
        "yml" => (&[], Hand::Person),
        _ => return Ok(None),
    };
    if let Some(subject) = known.iter().find(|subject| **subject == stem) {
        return Ok(Some((subject, hand)));
    }
    let all =
        |names: &[&str], ending| names.iter().map(|name| format!("{name}.{ending}")).collect::<Vec<_>>();
    let known = [all(&SUBJECTS, "yaml"), all(&LISTED, "json")].concat().join(", ");
    Err(format!("no file of a catalogue has this name; there are {known}"))
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    locations: Option<Vec<locations::Location>>,
    /// Their names, once they are known without a doubt.
    known: Option<BTreeSet<String>>,
    server_types: Option<Vec<server_types::ServerType>>,
    images: Option<Vec<images::Image>>,
    load_balancer_types: Option<Vec<load_balancer_types::LoadBalancerType>>,
    isos: Option<Vec<isos::Iso>>,
    prices: Option<prices::Prices>,
    limits: Option<limits::Limits>,
    timings: Option<timings::Timings>,
    mistakes: Vec<Mistake>,
}

impl Reading {
    fn known_locations(&mut self, catalogue: &Catalogue) {
        self.known = Some(catalogue.locations.iter().map(|location| location.name.clone()).collect());
    }

    /// Reads one file into its place.
    fn read(&mut self, found: &Found, builtin: &[locations::Location]) {
        let Found { subject, file, hand, text } = found;
        let known = self.known.take();
        let sheet = Sheet {
            file: file.clone(),
            hand: *hand,
            locations: known.as_ref(),
            mistakes: RefCell::default(),
        };
        match Node::parse(text) {
            Ok(node) => self.document(&sheet, &node, subject, builtin),
            Err((place, what)) => sheet.wrong(place, what),
        }
        let mut mistakes = sheet.mistakes.into_inner();
        mistakes.sort_by_key(|mistake| mistake.place);
        self.known = known;
        if *subject == "locations" && mistakes.is_empty() {
            let names = self.locations.iter().flatten().map(|location| location.name.clone());
            self.known = Some(names.collect());
        }
        self.mistakes.extend(mistakes);
    }

    /// A document has one field, called like its subject; the API's have their pages beside it.
    fn document(
        &mut self,
        sheet: &Sheet<'_>,
        node: &Node,
        subject: &'static str,
        builtin: &[locations::Location],
    ) {
        let Some(document) = Field::root(sheet, node).fields() else { return };
        let content = document.need(subject);
        if document.by_api() {
            one_page(&document);
        }
        document.done();
        let Some(content) = content else { return };
        match subject {
            "locations" => self.locations = Some(locations::read(content, builtin)),
            "server_types" => self.server_types = Some(server_types::read(content)),
            "images" => self.images = Some(images::read(content)),
            "load_balancer_types" => self.load_balancer_types = Some(load_balancer_types::read(content)),
            "isos" => self.isos = Some(isos::read(content)),
            "prices" => self.prices = prices::read(content),
            "limits" => self.limits = limits::read(content),
            _ => self.timings = timings::read(content),
        }
    }

    /// The catalogue, with `builtin` for what was not read.
    fn end(self, builtin: Option<Catalogue>) -> Result<Catalogue, CatalogueError> {
        if !self.mistakes.is_empty() {
            return Err(CatalogueError { mistakes: self.mistakes });
        }
        let known = self.known.unwrap_or_default();
        let base = builtin.map(|builtin| builtin.only_in(&known));
        let read = || {
            Some(Catalogue {
                locations: self.locations.or_else(|| Some(base.as_ref()?.locations.clone()))?,
                server_types: self.server_types.or_else(|| Some(base.as_ref()?.server_types.clone()))?,
                images: self.images.or_else(|| Some(base.as_ref()?.images.clone()))?,
                load_balancer_types: self
                    .load_balancer_types
                    .or_else(|| Some(base.as_ref()?.load_balancer_types.clone()))?,
                isos: self.isos.or_else(|| Some(base.as_ref()?.isos.clone()))?,
                prices: self.prices.or_else(|| Some(base.as_ref()?.prices.clone()))?,
                limits: self.limits.or_else(|| Some(base.as_ref()?.limits.clone()))?,
                timings: self.timings.or_else(|| Some(base.as_ref()?.timings.clone()))?,
            })
        };
        read().ok_or_else(|| CatalogueError { mistakes: Vec::new() })
    }
}

/// A captured list that goes on elsewhere is only a part of it.
fn one_page(document: &super::field::Fields<'_>) {
    let next = || document.maybe("meta")?.fields()?.maybe("pagination")?.fields()?.maybe("next_page");
    if let Some(next) = next() {
        next.wrong("tells of another page; capture all in one, with ?per_page=50, or join the pages");
    }
}
