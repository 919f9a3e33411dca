//! How many pods a budget is about, and how many of them must be healthy.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::api::{Api, Target};
use crate::store::{Key, Object, Owner};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) expected: i64,
    pub(super) desired: i64,
    /// Some pods have no controller to ask.
    pub(super) unmanaged: bool,
}

/// What a budget asks of its pods. All but a plain number is a share of what the controllers of the pods want.
pub(super) fn expected(api: &Api, spec: &Value, pods: &[Arc<Object>]) -> Result<Counts, String> {
    let (at_most, at_least) = (&spec["maxUnavailable"], &spec["minAvailable"]);
    if !at_most.is_null() {
        let (expected, unmanaged) = wanted(api, pods)?;
        let desired = (expected - share(at_most, expected)?).max(0);
        return Ok(Counts { expected, desired, unmanaged });
    }
    match at_least {
        Value::Null => Ok(Counts::default()),
        Value::Number(number) => Ok(Counts {
            expected: i64::try_from(pods.len()).unwrap_or(i64::MAX),
            desired: number.as_i64().unwrap_or_default(),
            unmanaged: false,
        }),
        share_wanted => {
            let (expected, unmanaged) = wanted(api, pods)?;
            Ok(Counts { expected, desired: share(share_wanted, expected)?, unmanaged })
        }
    }
}

/// A number, or a percentage rounded up.
fn share(value: &Value, whole: i64) -> Result<i64, String> {
    if let Some(number) = value.as_i64() {
        return Ok(number);
    }
    let text = value.as_str().unwrap_or_default();
    let percent: Option<i64> = text.strip_suffix('%').and_then(|number| number.parse().ok());
    let percent = percent
        .ok_or_else(|| format!("invalid value for IntOrString: invalid type: string is not a percentage"))?;
    Ok(percent.saturating_mul(whole).saturating_add(99).div_euclid(100))
}

/// How many pods the controllers of these pods want, and whether some have none.
fn wanted(api: &Api, pods: &[Arc<Object>]) -> Result<(i64, bool), String> {
    let mut scales: BTreeMap<&str, Option<(Box<str>, i64)>> = BTreeMap::new();
    let mut unmanaged = false;
    for pod in pods {
        let Some(owner) = pod.controller() else {
            unmanaged = true;
            continue;
        };
        if !scales.contains_key(&*owner.uid) {
            scales.insert(&owner.uid, Some(scale(api, owner, pod)?));
        }
    }
    // Several replica sets may belong to one deployment.
    let by_uid: BTreeMap<Box<str>, i64> = scales.into_values().flatten().collect();
    Ok((by_uid.values().sum(), unmanaged))
}

/// The uid and the replicas of whoever decides how many there are.
fn scale(api: &Api, owner: &Owner, pod: &Object) -> Result<(Box<str>, i64), String> {
    let namespace = &*pod.key.namespace;
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    if &*owner.kind == "ReplicaSet" && matches!(group, "apps" | "extensions") {
        let set = api.store().get("replicasets.apps", &Key::new(namespace, &owner.name));
        let deployment = set.filter(|set| set.uid == owner.uid).and_then(|set| set.controller().cloned());
        if let Some(deployment) = deployment.filter(|owner| &*owner.kind == "Deployment")
            && let Ok(Some(found)) = replicas(api, &deployment, namespace)
        {
            return Ok(found);
        }
    }
    replicas(api, owner, namespace)?
        .ok_or_else(|| format!("found no controllers for pod {:?}", &*pod.key.name))
}

/// By the scale subresource; `None` if there is no such object.
fn replicas(api: &Api, owner: &Owner, namespace: &str) -> Result<Option<(Box<str>, i64)>, String> {
    let registry = api.registry();
    let (group, version) = owner.api_version.split_once('/').unwrap_or(("", &owner.api_version));
    let resource = registry.by_kind(group, version, &owner.kind).ok_or_else(|| {
        format!("no matches for kind {:?} in version {:?}", &*owner.kind, &*owner.api_version)
    })?;
    if resource.subresource("scale").is_none() {
        let name = [resource.plural.as_str(), group].join(".");
        return Err(format!("{} does not implement the scale subresource", name.trim_end_matches('.')));
    }
    let namespace = if resource.namespaced { namespace } else { "" };
    match api.scale(&Target { resource, namespace, name: &owner.name, subresource: "scale" }) {
        Ok(scale) if scale["metadata"]["uid"] == *owner.uid => {
            Ok(Some((owner.uid.clone(), scale["spec"]["replicas"].as_i64().unwrap_or_default())))
        }
        Ok(_) => Ok(None),
        Err(status) if status.code == 404 => Ok(None),
        Err(status) => Err(status.message.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shares_are_rounded_up() {
        for (value, whole, wanted) in [
            (json!("50%"), 5, 3),
            (json!("50%"), 4, 2),
            (json!("0%"), 9, 0),
            (json!("100%"), 9, 9),
            (json!("1%"), 0, 0),
            (json!(7), 1, 7),
        ] {
            assert_eq!(share(&value, whole), Ok(wanted), "{value} of {whole}");
        }
        assert!(share(&json!("x"), 1).is_err());
    }
}
