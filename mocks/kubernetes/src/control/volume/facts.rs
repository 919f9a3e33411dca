//! What claims and volumes say, read from their JSON.

use serde_json::Value;

use crate::quantity::Quantity;
use crate::store::Key;

pub(super) const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
pub(super) const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// The node a claim is to be provisioned for.
pub(super) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
pub(super) const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

pub(super) fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][name].as_str()
}

/// The storage class of a claim or a volume; empty if it has none.
pub(super) fn class(object: &Value) -> &str {
    annotation(object, BETA_CLASS).unwrap_or_else(|| text(&object["spec"], "storageClassName"))
}

/// Whether a claim says of which class it wants to be, even if of none.
pub(super) fn has_class(claim: &Value) -> bool {
    annotation(claim, BETA_CLASS).is_some() || claim["spec"]["storageClassName"].is_string()
}

pub(super) fn bytes(value: &Value) -> i64 {
    Quantity::from_value(value).map(|quantity| quantity.value()).unwrap_or_default()
}

pub(super) fn requested(claim: &Value) -> i64 {
    bytes(&claim["spec"]["resources"]["requests"]["storage"])
}

pub(super) fn capacity(volume: &Value) -> i64 {
    bytes(&volume["spec"]["capacity"]["storage"])
}

/// The claim that a volume is bound to, or reserved for.
pub(super) fn claim_of(volume: &Value) -> Option<Key> {
    let reference = &volume["spec"]["claimRef"];
    reference.is_object().then(|| Key::new(text(reference, "namespace"), text(reference, "name")))
}

/// Whether a volume is bound to this claim, or reserved for one of its name.
pub(super) fn is_for(volume: &Value, claim: &Value) -> bool {
    let (reference, metadata) = (&volume["spec"]["claimRef"], &claim["metadata"]);
    let uid = text(reference, "uid");
    reference.is_object()
        && ["name", "namespace"].iter().all(|field| reference[*field] == metadata[*field])
        && (uid.is_empty() || metadata["uid"] == uid)
}
