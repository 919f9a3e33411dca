//! Which cluster a run is to have, as its user says it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Cluster, Embedded, Envtest, Existing};

/// Where `kubectl` looks for a kubeconfig that nobody has named.
const KUBECONFIG: &str = "KUBECONFIG";
/// Where the tests of controllers look for the programs of a control plane.
const ASSETS: &str = "KUBEBUILDER_ASSETS";

/// `embedded`, `existing`, `existing=KUBECONFIG`, `envtest` or `envtest=FOLDER`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Our own control plane.
    #[default]
    Embedded,
    /// Somebody's, by its kubeconfig.
    Existing(PathBuf),
    /// The programs of a real control plane, in this folder.
    Envtest(PathBuf),
}

impl Choice {
    /// The cluster, not started. What it draws follows from the seed, what it stores lies in the directory.
    pub fn cluster(&self, seed: u64, directory: &Path) -> Box<dyn Cluster> {
        match self {
            Choice::Embedded => Box::new(Embedded::new(seed)),
            Choice::Existing(kubeconfig) => Box::new(Existing::new(kubeconfig)),
            Choice::Envtest(folder) => Box::new(Envtest::new(folder, directory.join("cluster"))),
        }
    }

    /// Whether its control plane keeps the machine's time, and the run must, too.
    pub fn is_in_real_time(&self) -> bool {
        matches!(self, Choice::Existing(_))
    }

    /// As [`FromStr`], with what the environment says.
    fn read(text: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Result<Self, String> {
        let (kind, place) = match text.split_once('=') {
            Some((kind, place)) => (kind, Some(PathBuf::from(place))),
            None => (text, None),
        };
        let home = || variable("HOME").map(|home| home.join(".kube/config"));
        match (kind, place) {
            ("embedded", None) => Ok(Choice::Embedded),
            ("existing", place) => {
                place.or_else(|| variable(KUBECONFIG)).or_else(home).map(Choice::Existing).ok_or_else(|| {
                    format!("existing=KUBECONFIG, or {KUBECONFIG} in the environment, says which")
                })
            }
            ("envtest", place) => place.or_else(|| variable(ASSETS)).map(Choice::Envtest).ok_or_else(|| {
                format!(
                    "envtest=FOLDER, or {ASSETS} in the environment, says where etcd and kube-apiserver are"
                )
            }),
            _ => Err("one of embedded, existing=KUBECONFIG, envtest=FOLDER".to_owned()),
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text, |name| std::env::var_os(name).map(PathBuf::from))
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Embedded => f.write_str("embedded"),
            Choice::Existing(kubeconfig) => write!(f, "existing={}", kubeconfig.display()),
            Choice::Envtest(folder) => write!(f, "envtest={}", folder.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_as_it_is_printed() {
        for choice in [Choice::Embedded, Choice::Existing("a/b".into()), Choice::Envtest("c=d".into())] {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
    }

    #[test]
    fn what_is_left_out_stands_in_the_environment() {
        let set = |name: &str| (name != "HOME").then(|| PathBuf::from(name));
        assert_eq!(Choice::read("existing", set), Ok(Choice::Existing(KUBECONFIG.into())));
        assert_eq!(Choice::read("envtest", set), Ok(Choice::Envtest(ASSETS.into())));
        let only_home = |name: &str| (name == "HOME").then(|| PathBuf::from("/home"));
        assert_eq!(Choice::read("existing", only_home), Ok(Choice::Existing("/home/.kube/config".into())));
        assert!(Choice::read("envtest", only_home).unwrap_err().contains(ASSETS));
        for wrong in ["", "k3", "embedded=x", "Existing"] {
            assert!(Choice::read(wrong, set).unwrap_err().contains("envtest=FOLDER"), "{wrong}");
        }
    }
}
