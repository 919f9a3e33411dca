//! Custom resource definitions, made before anybody looks at their objects: from the texts of files, of ours or of a vendor.
//! And objects that must be there before anybody starts.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use mock_clock::{Clock as _, VirtualClock};
use serde_json::Value;

use super::ClusterError;

/// How often is looked whether a definition is served.
const LOOK: Duration = Duration::from_millis(250);
/// After so many looks in vain something is wrong with it.
const LOOKS: u32 = 240;

/// Makes all definitions in these texts, and waits until the API serves them. One that is there already is left as it is.
pub async fn define<T: AsRef<str>>(
    client: &Client,
    clock: &VirtualClock,
    texts: &[T],
) -> Result<(), ClusterError> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut names = Vec::new();
    for text in texts {
        for definition in read(text.as_ref())? {
            let name = definition.name_any();
            match api.create(&PostParams::default(), &definition).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(ClusterError::Definition(format!("{name}: {error}"))),
            }
            names.push(name);
        }
    }
    for name in names {
        until_served(&api, clock, &name).await?;
    }
    Ok(())
}

/// Makes objects of any kind that is served; one that is there already stays as it is. Says which could not be made.
pub async fn install(client: &Client, objects: &[Value]) -> Result<(), (String, kube::Error)> {
    for object in objects {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, name) = (word(&object["kind"]), word(&object["metadata"]["name"]));
        let failed = |error| (format!("make {kind} {name}"), error);
        let version = word(&object["apiVersion"]);
        let (group, version) = version.split_once('/').unwrap_or(("", &version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
        let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        };
        let made =
            serde_json::from_value(object.clone()).map_err(|error| failed(kube::Error::SerdeError(error)))?;
        match api.create(&PostParams::default(), &made).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// The definitions in one text; whatever else stands there is somebody else's business.
fn read(text: &str) -> Result<Vec<CustomResourceDefinition>, ClusterError> {
    let wrong = |error: &dyn std::fmt::Display| ClusterError::Definition(format!("read it: {error}"));
    let documents: Vec<Value> = serde_yaml::from_multiple(text).map_err(|error| wrong(&error))?;
    let definitions = documents.into_iter().filter(|it| it["kind"] == "CustomResourceDefinition");
    definitions.map(|it| serde_json::from_value(it).map_err(|error| wrong(&error))).collect()
}

async fn until_served(
    api: &Api<CustomResourceDefinition>,
    clock: &VirtualClock,
    name: &str,
) -> Result<(), ClusterError> {
    let mut why = "it is not there".to_owned();
    for _ in 0..LOOKS {
        let found = api.get_opt(name).await.map_err(|error| ClusterError::Definition(error.to_string()))?;
        let conditions = found.and_then(|it| it.status?.conditions).unwrap_or_default();
        if conditions.iter().any(|it| it.type_ == "Established" && it.status == "True") {
            return Ok(());
        }
        let mut said = conditions.into_iter().filter(|it| it.status == "False").filter_map(|it| it.message);
        why = said.next_back().unwrap_or(why);
        clock.sleep(LOOK).await;
    }
    Err(ClusterError::Definition(format!("{name} is not served: {why}")))
}
