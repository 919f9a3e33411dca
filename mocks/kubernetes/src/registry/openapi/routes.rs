//! The paths of a resource and what can be done there, before either version of the document words it.

use super::super::{Resource, api_version};

/// A path and its operations.
pub(super) struct Route {
    /// `/apis/apps/v1/namespaces/{namespace}/deployments/{name}`.
    pub(super) path: String,
    pub(super) operations: Vec<Operation>,
}

/// What one method does.
pub(super) struct Operation {
    /// In lower case.
    pub(super) method: &'static str,
    /// Upstream's word for it: `list`, `put`, `deletecollection`, …
    pub(super) action: &'static str,
    /// The kind of the bodies.
    pub(super) kind: BodyKind,
    /// Strategic merge is for built-in kinds only.
    pub(super) strategic: bool,
}

#[derive(Clone)]
pub(super) struct BodyKind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
}

/// A parameter of a query: its name and its type.
pub(super) type Parameter = (&'static str, &'static str);

/// Verbs with their methods and actions: of a collection, then of an object.
const COLLECTION: &[(&str, &str, &str)] = &[
    ("list", "get", "list"),
    ("create", "post", "post"),
    ("deletecollection", "delete", "deletecollection"),
];
const OBJECT: &[(&str, &str, &str)] = &[
    ("get", "get", "get"),
    ("update", "put", "put"),
    ("patch", "patch", "patch"),
    ("delete", "delete", "delete"),
];
const PART: &[(&str, &str, &str)] = &[
    ("get", "get", "get"),
    ("create", "post", "post"),
    ("update", "put", "put"),
    ("patch", "patch", "patch"),
];

/// All paths of a resource.
pub(super) fn of(resource: &Resource) -> Vec<Route> {
    let root = if resource.group.is_empty() { "/api" } else { "/apis" };
    let root = format!("{root}/{}", api_version(&resource.group, &resource.version));
    let plural = &resource.plural;
    let base = if resource.namespaced {
        format!("{root}/namespaces/{{namespace}}/{plural}")
    } else {
        format!("{root}/{plural}")
    };
    let kind = BodyKind {
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
    };
    let strategic = resource.custom.is_none();
    let route = |path: String,
                 verbs: &[&str],
                 methods: &[(&str, &'static str, &'static str)],
                 kind: &BodyKind| {
        let allowed = methods.iter().filter(|(verb, ..)| verbs.contains(verb));
        let operations =
            allowed.map(|(_, method, action)| Operation { method, action, kind: kind.clone(), strategic });
        Route { path, operations: operations.collect() }
    };
    let mut routes = Vec::new();
    if resource.namespaced {
        let lists = &COLLECTION[..1];
        routes.push(route(format!("{root}/{plural}"), &resource.verbs, lists, &kind));
    }
    routes.push(route(base.clone(), &resource.verbs, COLLECTION, &kind));
    routes.push(route(format!("{base}/{{name}}"), &resource.verbs, OBJECT, &kind));
    for part in resource.subresources.iter().filter(|part| part.simulated) {
        let kind =
            BodyKind { group: part.group.clone(), version: part.version.clone(), kind: part.kind.clone() };
        routes.push(route(format!("{base}/{{name}}/{}", part.name), &part.verbs, PART, &kind));
    }
    routes.retain(|route| !route.operations.is_empty());
    routes
}

impl Route {
    /// The parameters in the path itself.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &'static str> {
        ["name", "namespace"].into_iter().filter(|name| self.path.contains(&format!("{{{name}}}")))
    }
}

impl Operation {
    pub(super) fn parameters(&self) -> &'static [Parameter] {
        const WRITE: &[Parameter] =
            &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];
        const PATCH: &[Parameter] = &[
            ("dryRun", "string"),
            ("fieldManager", "string"),
            ("fieldValidation", "string"),
            ("force", "boolean"),
        ];
        const DELETE: &[Parameter] = &[
            ("dryRun", "string"),
            ("gracePeriodSeconds", "integer"),
            ("orphanDependents", "boolean"),
            ("propagationPolicy", "string"),
        ];
        const LIST: &[Parameter] = &[
            ("allowWatchBookmarks", "boolean"),
            ("continue", "string"),
            ("fieldSelector", "string"),
            ("labelSelector", "string"),
            ("limit", "integer"),
            ("resourceVersion", "string"),
            ("resourceVersionMatch", "string"),
            ("sendInitialEvents", "boolean"),
            ("timeoutSeconds", "integer"),
            ("watch", "boolean"),
        ];
        match self.action {
            "list" => LIST,
            "post" | "put" => WRITE,
            "patch" => PATCH,
            "delete" | "deletecollection" => DELETE,
            _ => &[],
        }
    }

    /// The bodies that a patch may have.
    pub(super) fn patch_types(&self) -> &'static [&'static str] {
        const ALL: [&str; 4] = [
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
        ];
        match (self.method, self.strategic) {
            ("patch", true) => &ALL,
            ("patch", false) => &ALL[..3],
            _ => &[],
        }
    }
}
