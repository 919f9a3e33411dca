//! The built-in resources, read from their table.
//!
//! The table is part of the program: a line that cannot be read is a bug, and the tests read all of them.

use super::resource::{Resource, Subresource};

const TABLE: &str = include_str!("resources.txt");

const ALL_VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const PART_VERBS: [&str; 3] = ["get", "patch", "update"];

/// All built-in resources, in the table's order.
pub(crate) fn built_in() -> Vec<Resource> {
    let mut resources: Vec<Resource> = Vec::new();
    let (mut group, mut version) = ("", "");
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let second = words.next();
        match (indent, resources.last_mut()) {
            (0, _) => {
                group = if first == "core" { "" } else { first };
                version = second.unwrap_or_default();
            }
            (4, Some(resource)) => {
                let part = subresource(resource, first, second.into_iter().chain(words));
                resource.subresources.push(part);
            }
            _ => resources.push(resource(group, version, first, second.unwrap_or_default(), words)),
        }
    }
    resources
}

fn resource(
    group: &str,
    version: &str,
    plural: &str,
    singular: &str,
    mut words: std::str::SplitWhitespace<'static>,
) -> Resource {
    let kind = words.next().unwrap_or_default();
    let mut resource = Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural.to_owned(),
        singular: singular.to_owned(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: ALL_VERBS.to_vec(),
        subresources: Vec::new(),
        shelf: shelf(group, plural),
        custom: None,
    };
    for word in words {
        match word.split_once('=') {
            Some(("short", names)) => resource.short_names = owned(names),
            Some(("in", categories)) => resource.categories = owned(categories),
            Some(("verbs", verbs)) => resource.verbs = verbs.split(',').collect(),
            _ => resource.namespaced = false,
        }
    }
    resource
}

fn subresource(of: &Resource, name: &str, words: impl Iterator<Item = &'static str>) -> Subresource {
    let mut subresource = Subresource {
        name: name.to_owned(),
        group: of.group.clone(),
        version: of.version.clone(),
        kind: of.kind.clone(),
        verbs: PART_VERBS.to_vec(),
        simulated: true,
    };
    for word in words {
        match word.split_once('=') {
            Some(("verbs", verbs)) => subresource.verbs = verbs.split(',').collect(),
            Some((_, kind)) => match kind.split('/').collect::<Vec<_>>()[..] {
                [group, version, kind] => {
                    group.clone_into(&mut subresource.group);
                    version.clone_into(&mut subresource.version);
                    kind.clone_into(&mut subresource.kind);
                }
                _ => kind.clone_into(&mut subresource.kind),
            },
            None => subresource.simulated = false,
        }
    }
    subresource
}

fn owned(list: &str) -> Vec<String> {
    list.split(',').map(str::to_owned).collect()
}

/// Where the objects of a resource lie. The events of `events.k8s.io` are those of the core group.
pub(super) fn shelf(group: &str, plural: &str) -> String {
    match group {
        "" | "events.k8s.io" => plural.to_owned(),
        _ => format!("{plural}.{group}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn find(group: &str, version: &str, plural: &str) -> Resource {
        built_in()
            .into_iter()
            .find(|resource| {
                resource.group == group && resource.version == version && resource.plural == plural
            })
            .unwrap()
    }

    #[test]
    fn every_line_is_understood() {
        let known = ["short", "in", "verbs", "as"];
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            for word in line.split_whitespace() {
                if let Some((key, _)) = word.split_once('=') {
                    assert!(known.contains(&key), "{line}");
                }
            }
        }
        for resource in built_in() {
            assert!(resource.version.starts_with('v'), "{resource:?}");
            assert!(resource.kind.starts_with(char::is_uppercase), "{resource:?}");
            for verb in &resource.verbs {
                assert!(ALL_VERBS.contains(verb), "{resource:?}");
            }
            for part in &resource.subresources {
                assert!(
                    part.kind.starts_with(char::is_uppercase) && part.version.starts_with('v'),
                    "{part:?}"
                );
            }
        }
    }

    #[test]
    fn names_are_not_used_twice() {
        let resources = built_in();
        let names: BTreeSet<_> =
            resources.iter().map(|resource| (&resource.group, &resource.version, &resource.plural)).collect();
        assert_eq!(names.len(), resources.len());
    }

    #[test]
    fn pods_are_read_as_they_are_written() {
        let pods = find("", "v1", "pods");
        assert!(pods.namespaced && pods.allows("deletecollection"));
        assert_eq!(
            (&pods.short_names[..], &pods.categories[..]),
            (&["po".to_owned()][..], &["all".to_owned()][..])
        );
        let eviction = pods.subresource("eviction").unwrap();
        assert_eq!((eviction.group.as_str(), eviction.version.as_str()), ("policy", "v1"));
        assert!(!eviction.allows("get") && eviction.simulated);
        assert!(!pods.subresource("log").unwrap().simulated);
        assert_eq!(pods.subresource("status").unwrap().kind, "Pod");
        assert!(!find("", "v1", "nodes").namespaced);
        assert!(!find("", "v1", "namespaces").allows("deletecollection"));
        assert_eq!(find("apps", "v1", "deployments").subresource("scale").unwrap().group, "autoscaling");
    }

    #[test]
    fn two_views_share_a_shelf() {
        assert_eq!(find("", "v1", "events").shelf, find("events.k8s.io", "v1", "events").shelf);
        let [first, second] =
            ["v1", "v2"].map(|version| find("autoscaling", version, "horizontalpodautoscalers"));
        assert_eq!(first.shelf, second.shelf);
        assert_ne!(find("", "v1", "pods").shelf, find("", "v1", "nodes").shelf);
    }
}
