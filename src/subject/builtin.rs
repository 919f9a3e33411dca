//! The profiles that come along, so that their names mean the same wherever the program runs.

macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../fixtures/autoscalers/", $name, ".yaml")))),*]
    };
}

/// Names and texts.
const BUILTIN: &[(&str, &str)] = builtin![
    "cluster-autoscaler-clusterapi",
    "cluster-autoscaler-hetzner",
    "cluster-autoscaler-hetzner-proxy",
    "karpenter-hetzner",
    "karpenter-kwok",
    "karpenter-kwok-v1beta1",
    "mock-autoscaler-clusterapi",
    "mock-autoscaler-hetzner",
    "mock-autoscaler-karpenter",
];

/// The text of the profile with this name.
pub fn builtin(name: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// All their names.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn all_that_lie_in_the_folder_come_along() {
        let folder = std::fs::read_dir("fixtures/autoscalers").unwrap();
        let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut names: Vec<String> = folder.map(|entry| stem(entry.unwrap().path())).collect();
        names.sort();
        assert_eq!(names, builtin_names().collect::<Vec<_>>());
    }
}
