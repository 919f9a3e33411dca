//! Requests: what a path, a method and a body ask of the cluster, and the answer.
//!
//! One way for all resources: none has a route of its own. Discovery, `OpenAPI` and the health checks stand beside.

mod accept;
mod account_token;
mod answer;
mod body;
mod deletion;
mod list;
mod options;
mod patching;
mod path;
mod plain;
mod query;
mod review;
mod select;
mod subresource;
mod syntax;
mod token;
mod verbs;
mod watch;
mod yaml;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderMap, USER_AGENT};
use hyper::{Method, Request, Response};

use accept::Form;
use path::ResourcePath;
use query::Query;

pub(crate) use path::decoded;

use crate::api::{Api, internal_package};
use crate::listen::{Attempt, Body, Handler, Tokens, User};
use crate::present::Include;
use crate::registry::Resource;
use crate::status::Status;

/// Answers all requests of one control plane.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    api: Api,
    tokens: Arc<Tokens>,
    /// `127.0.0.1:6443`, for clients that ask where the server is.
    address: Arc<OnceLock<String>>,
}

/// A request for a resource, taken apart.
#[derive(Debug)]
pub(super) struct Call<'a> {
    api: &'a Api,
    tokens: &'a Tokens,
    user: &'a User,
    resource: Arc<Resource>,
    path: ResourcePath,
    query: Query,
    headers: &'a HeaderMap,
    body: &'a Bytes,
    form: Form,
    include: Include,
}

impl Service {
    pub(crate) fn new(api: Api, tokens: Arc<Tokens>) -> Self {
        Self { api, tokens, address: Arc::default() }
    }

    /// Where it turned out to be served.
    pub(crate) fn served_at(&self, address: SocketAddr) {
        self.address.get_or_init(|| address.to_string());
    }

    async fn answer(&self, request: &Request<Bytes>, user: &User) -> Response<Body> {
        let path = request.uri().path();
        let Some(parsed) = ResourcePath::parse(path).filter(|parsed| self.knows_group(parsed, user)) else {
            return self.plain(request, user);
        };
        let query = Query::parse(request.uri().query().unwrap_or_default());
        let accept = header(request.headers(), ACCEPT.as_str());
        // Errors are told in the form that was asked for, as far as it is known by then.
        let form = Form::negotiate(accept, true, true).unwrap_or(Form::JSON);
        let registry = self.api.registry();
        let resource = registry.find(&parsed.group, &parsed.version, &parsed.resource).cloned();
        let mut response = match self.resource_call(request, user, parsed, query).await {
            // Who serves custom resources says it more shortly.
            Err(status)
                if status.is_lost() && resource.as_ref().is_none_or(|found| found.custom.is_some()) =>
            {
                self.lost(path)
            }
            Err(status) => answer::error(form, &status),
            Ok(response) => response,
        };
        if let Some(resource) = resource {
            answer::warn(&mut response, &deprecation(&resource));
        }
        response
    }

    async fn resource_call(
        &self,
        request: &Request<Bytes>,
        user: &User,
        path: ResourcePath,
        query: Query,
    ) -> Result<Response<Body>, Status> {
        let verb = verb(request.method(), &path, &query);
        allowed(user, verb, &path)?;
        let registry = self.api.registry();
        let found = registry.find(&path.group, &path.version, &path.resource);
        let resource = found.filter(|_| !path.broken).ok_or_else(Status::no_such_path)?.clone();
        route(&resource, verb, &path)?;
        let form = form(request, &resource, verb, &path, &query)?;
        let include = Include::parse(query.text("includeObject"))?;
        let call = Call {
            api: &self.api,
            tokens: &self.tokens,
            user,
            resource,
            path,
            query,
            headers: request.headers(),
            body: request.body(),
            form,
            include,
        };
        call.run(verb).await
    }
}

/// In which form the answer is wanted.
fn form(
    request: &Request<Bytes>,
    resource: &Resource,
    verb: &str,
    path: &ResourcePath,
    query: &Query,
) -> Result<Form, Status> {
    let accept = header(request.headers(), ACCEPT.as_str());
    let built_in = resource.custom.is_none();
    if built_in {
        Form::exists(accept, verb == "list" || verb == "watch")?;
    }
    if verb == "watch" {
        return Form::negotiate_stream(accept, built_in);
    }
    let reads = matches!(verb, "get" | "list") || path.subresource.is_empty();
    let mut form = Form::negotiate(accept, built_in, reads)?;
    form.pretty |= query.flag("pretty").unwrap_or_default();
    if !reads {
        return Ok(form);
    }
    let many = matches!(verb, "list" | "deletecollection");
    let kind = if many { &resource.list_kind } else { &resource.kind };
    let go = if built_in {
        format!("*{}.{kind}", internal_package(&resource.group))
    } else {
        format!("*unstructured.Unstructured{}", if many { "List" } else { "" })
    };
    form.suits(many, &go)
}

/// The sentence about a kind that has a successor.
fn deprecation(resource: &Resource) -> Vec<String> {
    match (&resource.custom, resource.shelf.as_ref()) {
        (Some((_, version)), _) => version.deprecated.iter().cloned().collect(),
        (None, "endpoints") => {
            vec!["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned()]
        }
        _ => Vec::new(),
    }
}

/// Whether the path can be gone in that way.
fn route(resource: &Resource, verb: &str, path: &ResourcePath) -> Result<(), Status> {
    let many = path.name.is_empty();
    if path.namespace.is_empty() == resource.namespaced {
        if !resource.namespaced || !many && !path.watch {
            return Err(Status::no_such_path());
        }
        if !matches!(verb, "list" | "watch") {
            return Err(Status::method_not_allowed());
        }
    }
    let fits = match verb {
        "list" | "deletecollection" => many,
        "create" => many || !path.subresource.is_empty(),
        "get" | "update" | "patch" | "delete" => !many,
        "watch" => true,
        _ => false,
    };
    if !fits {
        return Err(Status::method_not_allowed());
    }
    if path.name.contains('/') {
        return Err(Status::no_such_path());
    }
    if path.name.contains('%') {
        let name = &path.name;
        return Err(Status::bad_request(format!("Name parameter invalid: {name:?}: may not contain '%'")));
    }
    Ok(())
}

impl Handler for Service {
    async fn handle(&self, request: Request<Bytes>, user: &User) -> Response<Body> {
        self.answer(&request, user).await
    }
}

/// What the request wants to do, in the words of access rules.
fn verb(method: &Method, path: &ResourcePath, query: &Query) -> &'static str {
    let many = path.name.is_empty();
    let watches = path.watch || many && query.flag("watch").unwrap_or_default();
    match *method {
        Method::GET if watches && path.subresource.is_empty() => "watch",
        Method::GET if many => "list",
        Method::GET => "get",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if many => "deletecollection",
        Method::DELETE => "delete",
        _ => "",
    }
}

fn allowed(user: &User, verb: &str, path: &ResourcePath) -> Result<(), Status> {
    if !user.is_anonymous() {
        return Ok(());
    }
    Err(user.forbidden(&Attempt {
        verb,
        group: &path.group,
        resource: &path.resource,
        subresource: &path.subresource,
        namespace: &path.namespace,
        name: &path.name,
    }))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl Call<'_> {
    fn agent(&self) -> &str {
        header(self.headers, USER_AGENT.as_str())
    }
}
