//! A pod, as a text.

use bytes::Bytes;

/// A pod of a replica set as its controller makes it: 1 kB, and about 2 kB once it has its defaults.
pub(crate) fn pod(number: usize) -> Bytes {
    let set = number / 100;
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"service-{set}-7d9f8b6c54-{number}","generateName":"service-{set}-7d9f8b6c54-",
"labels":{{"app":"service-{set}","pod-template-hash":"7d9f8b6c54","team":"measurers"}},"annotations":{{"prometheus.io/scrape":"true","prometheus.io/port":"8080"}},
"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"service-{set}-7d9f8b6c54","uid":"4f9c1f0e-0000-4000-8000-{set:012}","controller":true,"blockOwnerDeletion":true}}]}},
"spec":{{"serviceAccountName":"default","containers":[{{"name":"server","image":"registry.example.com/service/server:v1.2.3","ports":[{{"containerPort":8080,"name":"http"}}],
"env":[{{"name":"LOG_LEVEL","value":"info"}},{{"name":"POD_NAME","valueFrom":{{"fieldRef":{{"fieldPath":"metadata.name"}}}}}}],
"resources":{{"requests":{{"cpu":"100m","memory":"64Mi"}},"limits":{{"memory":"256Mi"}}}},
"readinessProbe":{{"httpGet":{{"path":"/ready","port":"http"}},"periodSeconds":5}}}}]}}}}"#
    );
    text.into()
}
