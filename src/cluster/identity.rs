//! Who the subject is on a cluster that somebody else runs: a service account of the run, with a token.
//!
//! The administrator's own certificate would be of no use to it, since certificates do not pass a door. The account is
//! gone when the run is over.

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleRef, Subject};
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::{Api, Client};

/// Where autoscalers live.
const NAMESPACE: &str = "kube-system";
/// Longer than a run, as long as the API server lets a token live by default.
const SECONDS: i64 = 24 * 60 * 60;

/// An account that was made for a run.
#[derive(Clone)]
pub(super) struct Identity {
    client: Client,
    name: String,
    pub(super) token: String,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Identity {
    /// An account that may do everything: what it must not do is for the checks to see.
    pub(super) async fn make(client: Client) -> Result<Self, kube::Error> {
        let generated = || ObjectMeta { generate_name: Some("scaleproof-".to_owned()), ..Default::default() };
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
        let account = ServiceAccount { metadata: generated(), ..Default::default() };
        let made = accounts.create(&PostParams::default(), &account).await?;
        let mut identity =
            Self { client, name: made.metadata.name.unwrap_or_default(), token: String::new() };
        match identity.empower(&accounts).await {
            Ok(token) => identity.token = token,
            Err(error) => {
                identity.remove().await;
                return Err(error);
            }
        }
        Ok(identity)
    }

    async fn empower(&self, accounts: &Api<ServiceAccount>) -> Result<String, kube::Error> {
        let binding = ClusterRoleBinding {
            metadata: ObjectMeta { name: Some(self.name.clone()), ..Default::default() },
            role_ref: RoleRef {
                api_group: "rbac.authorization.k8s.io".to_owned(),
                kind: "ClusterRole".to_owned(),
                name: "cluster-admin".to_owned(),
            },
            subjects: Some(vec![Subject {
                kind: "ServiceAccount".to_owned(),
                name: self.name.clone(),
                namespace: Some(NAMESPACE.to_owned()),
                ..Default::default()
            }]),
        };
        self.bindings().create(&PostParams::default(), &binding).await?;
        let wanted = TokenRequest {
            spec: TokenRequestSpec { expiration_seconds: Some(SECONDS), ..Default::default() },
            ..Default::default()
        };
        let made = accounts.create_token_request(&self.name, &PostParams::default(), &wanted).await?;
        Ok(made.status.map(|status| status.token).unwrap_or_default())
    }

    fn bindings(&self) -> Api<ClusterRoleBinding> {
        Api::all(self.client.clone())
    }

    /// Takes everything back. A cluster that is gone by then has nothing left of it.
    pub(super) async fn remove(&self) {
        let now = DeleteParams::default();
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), NAMESPACE);
        let _ = self.bindings().delete(&self.name, &now).await;
        let _ = accounts.delete(&self.name, &now).await;
    }
}
