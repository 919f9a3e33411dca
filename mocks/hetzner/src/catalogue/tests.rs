//! The built-in catalogue, and what can be asked of it.

use super::*;

#[test]
fn the_builtin_files_load() {
    let read = folder::builtin().unwrap_or_else(|error| panic!("{error}"));
    let sizes =
        [read.locations.len(), read.server_types.len(), read.images.len(), read.load_balancer_types.len()];
    assert!(sizes.iter().all(|size| *size > 2), "{sizes:?}");
    assert!(!read.isos.is_empty());
}

#[test]
fn the_builtin_has_every_case_that_clients_must_bear() {
    let catalogue = Catalogue::builtin();
    let now = "2026-11-01T00:00:00Z".parse().unwrap();
    let gone = |name| catalogue.server_type(name).unwrap().deprecation.is_some_and(|end| end.is_over(now));
    assert!(["cx11", "cx51", "cx22", "cx52"].into_iter().all(gone));
    assert!(!gone("cx23"));
    let cpx11 = catalogue.server_type("cpx11").unwrap();
    assert!(cpx11.price("fsn1").is_some() && cpx11.offer("fsn1").unwrap().deprecation.is_some());
    assert!(cpx11.offer("ash").unwrap().deprecation.is_none() && cpx11.price("sin").is_none());
    let state = |image: &Image| image.deprecation.map(|end| end.is_over(now));
    assert!(catalogue.images.iter().any(|image| state(image) == Some(false)));
    assert!(catalogue.images.iter().any(|image| state(image) == Some(true)));
    assert!(catalogue.isos.iter().any(|iso| iso.architecture.is_none()));
}

#[test]
fn everything_is_found_by_name_and_by_id() {
    let catalogue = Catalogue::builtin();
    assert!(catalogue.locations.iter().all(|it| catalogue.location(&it.name) == Some(it)));
    assert!(catalogue.locations.iter().all(|it| catalogue.location_by_id(it.id) == Some(it)));
    assert!(catalogue.server_types.iter().all(|it| catalogue.server_type(&it.name) == Some(it)));
    assert!(catalogue.server_types.iter().all(|it| catalogue.server_type_by_id(it.id) == Some(it)));
    assert!(catalogue.images.iter().all(|it| catalogue.image(&it.name, it.architecture) == Some(it)));
    assert!(catalogue.images.iter().all(|it| catalogue.image_by_id(it.id) == Some(it)));
    assert!(catalogue.isos.iter().all(|it| catalogue.iso(&it.name) == Some(it)));
    assert!(catalogue.isos.iter().all(|it| catalogue.iso_by_id(it.id) == Some(it)));
    let types = &catalogue.load_balancer_types;
    assert!(types.iter().all(|it| catalogue.load_balancer_type(&it.name) == Some(it)));
    assert!(types.iter().all(|it| catalogue.load_balancer_type_by_id(it.id) == Some(it)));
    assert_eq!(catalogue.server_type("CX23"), None);
}

#[test]
fn a_command_without_a_timing_takes_the_default() {
    let catalogue = Catalogue::builtin();
    assert_eq!(catalogue.timing("create_server").mean.as_secs(), 6);
    assert_eq!(catalogue.timing("change_protection"), &catalogue.timings.default);
}

#[test]
fn commands_are_known_in_order_and_once() {
    assert!(timings::COMMANDS.is_sorted_by(|one, next| one < next));
}
