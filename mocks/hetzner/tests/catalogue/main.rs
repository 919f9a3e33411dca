//! Catalogues in files: what is told of bad ones, and that good ones are read as they are meant.
//!
//! A folder of `bad/` holds the files of one catalogue and `expected.txt`, what is told of it. With
//! `UPDATE_EXPECTED=1` in the environment the expectations are written anew.
#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod captured;

use std::path::{Path, PathBuf};

use mock_hetzner::Catalogue;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogue").join(name)
}

/// An empty folder for files that a test writes.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn every_mistake_of_a_bad_catalogue_is_told_with_its_place() {
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(folder("bad")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    for case in cases {
        let told = Catalogue::load(&case).unwrap_err().to_string();
        let told = told.replace(&format!("{}/", case.display()), "") + "\n";
        let file = case.join("expected.txt");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&file, &told).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(told, expected, "of {}", case.display());
    }
}

#[test]
fn a_folder_without_files_is_the_builtin_catalogue() {
    assert_eq!(Catalogue::load(&empty_folder("no-files")).unwrap(), Catalogue::builtin());
}

#[test]
fn a_folder_of_the_builtin_files_is_the_builtin_catalogue() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalogue");
    assert_eq!(Catalogue::load(&files).unwrap(), Catalogue::builtin());
}

#[test]
fn a_file_replaces_one_subject_and_no_other() {
    let folder = empty_folder("one-file");
    std::fs::write(folder.join("isos.yaml"), "isos: []\n").unwrap();
    assert_eq!(Catalogue::load(&folder).unwrap(), Catalogue { isos: Vec::new(), ..Catalogue::builtin() });
}

#[test]
fn builtin_files_speak_only_of_the_locations_of_the_folder() {
    let folder = empty_folder("one-location");
    let only = "locations: [{id: 9, name: sin, description: S, country: SG, city: S, latitude: 1, longitude: 103, \
                network_zone: ap-southeast}]\n";
    std::fs::write(folder.join("locations.yaml"), only).unwrap();
    let catalogue = Catalogue::load(&folder).unwrap();
    let ccx13 = catalogue.server_type("ccx13").unwrap();
    assert_eq!((ccx13.prices.len(), ccx13.locations.len()), (1, 1));
    assert!(ccx13.price("sin").is_some() && ccx13.offer("sin").is_some());
    assert!(catalogue.server_type("cx23").unwrap().prices.is_empty());
    assert!(catalogue.load_balancer_types.iter().all(|it| it.prices.len() == 1));
    assert_eq!(catalogue.prices.primary_ips.ipv4.len(), 1);
    assert_eq!(catalogue.location("sin").unwrap().datacenter, None);
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let told = Catalogue::load(&folder("nowhere")).unwrap_err().to_string();
    assert!(told.contains("nowhere: the folder of the catalogue cannot be read"), "{told}");
}

#[test]
fn a_file_that_is_no_text_is_told() {
    let folder = empty_folder("no-text");
    std::fs::write(folder.join("isos.yaml"), [0xff, 0xfe]).unwrap();
    let told = Catalogue::load(&folder).unwrap_err().to_string();
    assert!(told.contains("isos.yaml: cannot be read"), "{told}");
}
