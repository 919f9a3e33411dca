//! What a path names: a resource and what of it, or something else.

/// A path below `/api` or `/apis`, taken apart. Nothing says yet that any of it exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourcePath {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) namespace: String,
    pub(super) resource: String,
    pub(super) name: String,
    pub(super) subresource: String,
    /// The old way to watch: `/api/v1/watch/…`.
    pub(super) watch: bool,
    /// It leads nowhere: there is more than a subresource can have, or a part is empty.
    pub(super) broken: bool,
}

/// Namespaces have subresources of their own, all other words after one are resources in it.
const OF_NAMESPACES: [&str; 2] = ["status", "finalize"];

impl ResourcePath {
    /// The path of a resource; `None` for discovery and everything else.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let segments: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
        let mut rest: Vec<&str> = segments.iter().map(String::as_str).collect();
        let mut found = Self::default();
        let head = match rest.as_slice() {
            ["api", version, _, ..] => {
                (*version).clone_into(&mut found.version);
                2
            }
            ["apis", group, version, _, ..] => {
                (*group).clone_into(&mut found.group);
                (*version).clone_into(&mut found.version);
                3
            }
            _ => return None,
        };
        rest.drain(..head);
        if rest.first() == Some(&"watch") {
            found.watch = true;
            rest.remove(0);
        }
        if let ["namespaces", namespace, next, ..] = rest.as_slice()
            && !(OF_NAMESPACES.contains(next) && rest.len() == 3)
        {
            (*namespace).clone_into(&mut found.namespace);
            rest.drain(..2);
        }
        let mut parts = rest.into_iter().map(str::to_owned);
        found.resource = parts.next()?;
        found.name = parts.next().unwrap_or_default();
        found.subresource = parts.next().unwrap_or_default();
        found.broken = parts.next().is_some() || path.contains("//");
        Some(found)
    }
}

/// A part of a URL with its `%41` read. What is no code stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut read = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let code = (bytes[index] == b'%').then(|| text.get(index + 1..index + 3)).flatten();
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            read.push(byte);
            index += 3;
        } else {
            read.push(bytes[index]);
            index += 1;
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str) -> [String; 6] {
        let found = ResourcePath::parse(path).unwrap_or_else(|| panic!("{path} names a resource"));
        [found.group, found.version, found.namespace, found.resource, found.name, found.subresource]
    }

    #[test]
    fn paths_name_resources() {
        let cases = [
            ("/api/v1/nodes", ["", "v1", "", "nodes", "", ""]),
            ("/api/v1/nodes/", ["", "v1", "", "nodes", "", ""]),
            ("/api/v1/nodes/a/status", ["", "v1", "", "nodes", "a", "status"]),
            ("/api/v1/namespaces", ["", "v1", "", "namespaces", "", ""]),
            ("/api/v1/namespaces/a", ["", "v1", "", "namespaces", "a", ""]),
            ("/api/v1/namespaces/a/finalize", ["", "v1", "", "namespaces", "a", "finalize"]),
            ("/api/v1/namespaces/a/pods", ["", "v1", "a", "pods", "", ""]),
            (
                "/apis/apps/v1/namespaces/a/deployments/d/scale",
                ["apps", "v1", "a", "deployments", "d", "scale"],
            ),
            ("/apis/apps/v1/deployments", ["apps", "v1", "", "deployments", "", ""]),
            ("/api/v1/watch/namespaces/a/pods/p", ["", "v1", "a", "pods", "p", ""]),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab",
                ["rbac.authorization.k8s.io", "v1", "", "clusterroles", "a:b", ""],
            ),
        ];
        for (path, expected) in cases {
            assert_eq!(parse(path), expected.map(str::to_owned), "{path}");
        }
    }

    #[test]
    fn other_paths_do_not() {
        for path in [
            "/",
            "",
            "/api",
            "/api/v1",
            "/apis",
            "/apis/apps",
            "/apis/apps/v1",
            "/version",
            "/openapi/v3/api",
        ] {
            assert_eq!(ResourcePath::parse(path), None, "{path}");
        }
    }

    #[test]
    fn broken_codes_stay() {
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%c3%a4%41"), "äA");
    }

    proptest::proptest! {
        #[test]
        fn no_path_is_too_much(path in ".{0,80}") {
            ResourcePath::parse(&path);
        }
    }
}
