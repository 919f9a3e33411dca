//! Objects as types of `k8s-openapi`, for controllers and the scheduler.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Api, Delete, Target, Write};
use crate::registry::Resource;
use crate::status::Status;
use crate::store::Object;

/// A built-in kind that has a type.
pub(crate) trait Kind:
    k8s_openapi::Resource + k8s_openapi::Metadata<Ty = ObjectMeta> + Serialize + DeserializeOwned
{
}

impl<K> Kind for K where
    K: k8s_openapi::Resource + k8s_openapi::Metadata<Ty = ObjectMeta> + Serialize + DeserializeOwned
{
}

impl Api {
    /// The resource of a type. Every type we name is built in.
    pub(crate) fn resource<K: Kind>(&self) -> Arc<Resource> {
        let registry = self.registry();
        let found = registry.by_kind(K::GROUP, K::VERSION, K::KIND);
        found
            .unwrap_or_else(|| {
                panic!("{} {} is not in the table of built-in resources", K::API_VERSION, K::KIND)
            })
            .clone()
    }

    pub(crate) fn read<K: Kind>(&self, namespace: &str, name: &str) -> Option<K> {
        read(&*self.find(&self.resource::<K>(), namespace, name)?)
    }

    /// All objects of a namespace; of all namespaces if it is empty.
    pub(crate) fn read_all<K: Kind>(&self, namespace: &str) -> Vec<K> {
        let objects = self.list(&self.resource::<K>(), namespace);
        objects.iter().filter_map(|object| read(object)).collect()
    }

    /// Those of a kind that an object owns, by its uid.
    pub(crate) fn owned<K: Kind>(&self, uid: &str) -> Vec<Arc<Object>> {
        self.store().owned_by(&self.resource::<K>().shelf, uid)
    }

    pub(crate) fn make<K: Kind>(&self, namespace: &str, object: &K, write: &Write) -> Result<K, Status> {
        let body = serde_json::to_value(object).map_err(Status::internal)?;
        let written = self.create(&self.resource::<K>(), namespace, body, write)?;
        read(&written.object).ok_or_else(|| Status::internal("the object cannot be read back"))
    }

    /// Changes an object, or one of its subresources (empty for the object itself), from whatever it is now.
    pub(crate) fn edit<K: Kind>(
        &self,
        (namespace, name, subresource): (&str, &str, &str),
        write: &Write,
        mut edit: impl FnMut(&mut K) -> Result<(), Status>,
    ) -> Result<K, Status> {
        let resource = self.resource::<K>();
        let target = Target { resource: &resource, namespace, name, subresource };
        let written = self.change(&target, write, |before| {
            let mut object = serde_json::from_value(before.clone()).map_err(Status::internal)?;
            edit(&mut object)?;
            serde_json::to_value(&object).map_err(Status::internal)
        })?;
        read(&written.object).ok_or_else(|| Status::internal("the object cannot be read back"))
    }

    /// Deletes an object; it may be gone already.
    pub(crate) fn discard<K: Kind>(
        &self,
        namespace: &str,
        name: &str,
        delete: &Delete,
        write: &Write,
    ) -> Result<(), Status> {
        let resource = self.resource::<K>();
        let target = Target { resource: &resource, namespace, name, subresource: "" };
        match self.delete(&target, delete, write) {
            Err(status) if status.code == 404 => Ok(()),
            other => other.map(|_| ()),
        }
    }
}

/// An object as its type. What the server has stored can be read; what cannot is a bug and is reported.
pub(crate) fn read<K: Kind>(object: &Object) -> Option<K> {
    object
        .read()
        .inspect_err(|error| tracing::error!(kind = K::KIND, key = %object.key, %error, "a stored object cannot be read"))
        .ok()
}
