//! What the linker of Go has left in a program of how it was built: which package it is, and with which tags.

use std::fs;
use std::io;
use std::path::Path;

use crate::terms::Version;

const PATH: &[u8] = b"path\t";
const MODULE: &[u8] = b"mod\t";
const TAGS: &[u8] = b"build\t-tags=";
/// What the lines after the first begin with.
const MORE: [&[u8]; 4] = [MODULE, b"dep\t", b"=>\t", b"build\t"];

/// How a program was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// The package it is.
    pub package: String,
    /// The tags it was built with.
    pub tags: Vec<String>,
    /// The version of the module it is of.
    pub version: Option<Version>,
}

impl Build {
    /// How a program was built, if it says so.
    pub fn of(program: &Path) -> io::Result<Option<Build>> {
        fs::read(program).map(|bytes| told(&bytes))
    }

    /// The profile that comes along for it, if it is the only one for what it is.
    pub fn profile(&self) -> Option<&'static str> {
        let tagged = |tag: &str| self.tags.iter().any(|other| other == tag);
        match self.package.as_str() {
            "k8s.io/autoscaler/cluster-autoscaler" if tagged("hetzner") => Some("cluster-autoscaler-hetzner"),
            "k8s.io/autoscaler/cluster-autoscaler" if tagged("clusterapi") => {
                Some("cluster-autoscaler-clusterapi")
            }
            "sigs.k8s.io/karpenter/kwok" => match self.version {
                Some(version) if version < Version::new(1, 0, 0) => Some("karpenter-kwok-v1beta1"),
                _ => Some("karpenter-kwok"),
            },
            package if package.contains("/karpenter-provider-hetzner/") => Some("karpenter-hetzner"),
            _ => None,
        }
    }
}

fn told(bytes: &[u8]) -> Option<Build> {
    let starts = bytes.windows(PATH.len()).enumerate().filter(|(_, window)| *window == PATH);
    starts.map(|(at, _)| &bytes[at + PATH.len()..]).find_map(|rest| {
        let mut lines = rest.split(|byte| *byte == b'\n');
        let package = lines.next().filter(|line| line.iter().all(u8::is_ascii_graphic))?;
        let more: Vec<&[u8]> =
            lines.take_while(|line| MORE.iter().any(|word| line.starts_with(word))).collect();
        let tags = more.iter().find_map(|line| line.strip_prefix(TAGS)).unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let tags = tags.split(|byte| *byte == b',').map(text).collect();
        let version =
            more.iter().find_map(|line| line.strip_prefix(MODULE)?.split(|byte| *byte == b'\t').nth(1));
        let version = version.and_then(|version| std::str::from_utf8(version).ok()?.parse().ok());
        (!more.is_empty()).then(|| Build { package: text(package), tags, version })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_says_which_package_it_is_and_how_it_was_built() {
        let profile = |text: &str| told(text.as_bytes()).and_then(|build| build.profile());
        let autoscaler =
            "\0path\t no\n\u{1}path\tk8s.io/autoscaler/cluster-autoscaler\nmod\tk8s.io/x\t(devel)\t\n";
        assert_eq!(
            profile(&format!("{autoscaler}dep\tz\tv1.0.0\nbuild\t-tags=hetzner\n\0")),
            Some("cluster-autoscaler-hetzner")
        );
        assert_eq!(
            profile(&format!("{autoscaler}build\t-tags=a,clusterapi\n")),
            Some("cluster-autoscaler-clusterapi")
        );
        assert_eq!(profile(autoscaler), None, "it can do both");
        let kwok = "\u{1}path\tsigs.k8s.io/karpenter/kwok\nmod\tsigs.k8s.io/karpenter\tv1.14.1\t\n";
        assert_eq!(profile(kwok), Some("karpenter-kwok"));
        assert_eq!(profile(&kwok.replace("v1.14.1", "v0.37.7")), Some("karpenter-kwok-v1beta1"));
        let hetzner = "path\tgithub.com/x/karpenter-provider-hetzner/cmd/controller\nmod\ty\tv2.1.0\t\n";
        assert_eq!(profile(hetzner), Some("karpenter-hetzner"));
        for nothing in ["path\tx\nnothing", "path\tx y\nmod\tz\n", "path\t", ""] {
            assert_eq!(told(nothing.as_bytes()), None, "{nothing}");
        }
    }
}
