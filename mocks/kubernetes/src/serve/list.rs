//! Lists: at which revision, which page.

use std::sync::Arc;

use super::options::{ListOptions, Matching};
use super::select::Selection;
use super::token::Token;
use crate::api::Api;
use crate::registry::Resource;
use crate::status::Status;
use crate::store::{Compacted, Key, Object, Snapshot};

/// The objects of one page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) revision: u64,
    pub(super) objects: Vec<Arc<Object>>,
    pub(super) next: Option<String>,
    /// How many follow; not known under a selector.
    pub(super) remaining: Option<usize>,
}

/// The page that was asked for.
pub(super) fn page(
    api: &Api,
    resource: &Resource,
    selection: &Selection,
    options: &ListOptions,
) -> Result<Page, Status> {
    let token = options.token.as_deref().map(Token::read).transpose()?;
    if token.is_some() && options.revision.is_some_and(|revision| revision != 0) {
        return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
    }
    let Snapshot { revision, objects } = snapshot(api, resource, selection, options, token.as_ref())?;
    let mut objects = selection.filter(objects);
    if let Some(token) = token {
        let seen = objects.partition_point(|object| object.key <= token.after);
        objects.drain(..seen);
    }
    // Reads of "any" version come from memory upstream, and are not cut.
    let limit =
        if options.revision == Some(0) && options.matching != Matching::Exact { 0 } else { options.limit };
    let cut = limit > 0 && objects.len() > limit;
    let rest = if cut { objects.split_off(limit).len() } else { 0 };
    let last = objects.last().filter(|_| cut);
    let next = last.map(|last| Token { revision, after: last.key.clone() }.write());
    let remaining = (cut && !selection.is_selective()).then_some(rest);
    Ok(Page { revision, objects, next, remaining })
}

fn snapshot(
    api: &Api,
    resource: &Resource,
    selection: &Selection,
    options: &ListOptions,
    token: Option<&Token>,
) -> Result<Snapshot, Status> {
    let (store, shelf, namespace) = (api.store(), &resource.shelf, &selection.namespace);
    let one = selection.only().filter(|_| !(namespace.is_empty() && resource.namespaced));
    // As upstream: a page of a named version is of that one and no newer, if it could have a second page.
    let exact = match options.matching {
        Matching::Exact => true,
        Matching::NotOlder => false,
        Matching::Unsaid => options.limit > 0 && options.revision != Some(0) && one.is_none(),
    };
    let fixed = token.map(|token| token.revision).or(options.revision.filter(|_| exact));
    if let Some(asked) = fixed.or(options.revision) {
        not_from_the_future(api, asked)?;
    }
    let Some(revision) = fixed else {
        if let Some(name) = one {
            return Ok(store.list_one(shelf, &Key::new(namespace, name)));
        }
        return Ok(store.list(shelf, namespace));
    };
    store.list_at(shelf, namespace, revision).map_err(|Compacted| {
        Status::expired(if token.is_some() {
            "The provided continue parameter is too old to display a consistent list result. You must start a new \
             list without the continue parameter."
        } else {
            "The resourceVersion for the provided list is too old."
        })
    })
}

/// A version above the last one was never given out by this server.
pub(super) fn not_from_the_future(api: &Api, asked: u64) -> Result<(), Status> {
    let current = api.store().revision();
    if asked > current { Err(Status::resource_version_too_large(asked, current)) } else { Ok(()) }
}
