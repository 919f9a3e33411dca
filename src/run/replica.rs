//! A replica is started: its entrances in the door, what it is told, and what it is called.

use std::fs;

use base64::Engine as _;

use super::stage::Stage;
use super::{Order, RunError};
use crate::door::{Upstream, Way};
use crate::subject::{Circumstances, Flavour, Launch, Port, Replica, SubjectError, hosts};
use crate::terms::{Api, Provider};

/// The host that subjects without an endpoint option call.
const CLOUD_HOST: &str = "api.hetzner.cloud";

/// Where all replicas have the host name of the machine, what the history says of it. Those that know each other by
/// nothing else cannot run like that: several leaders would be the harness' own doing. Karpenter adds a number of its own
/// to the name (controller-runtime, pkg/leaderelection: `hostname_uuid`).
pub(super) fn shared_host(order: &Order) -> Result<Option<String>, SubjectError> {
    if order.plan.replicas < 2 || hosts::can_be_given() {
        return Ok(None);
    }
    match order.profile.provider {
        Provider::Hetzner | Provider::Clusterapi => Err(SubjectError::Hosts),
        Provider::Karpenter => Ok(Some("all replicas have the host name of the machine".to_owned())),
    }
}

impl Stage {
    /// Opens the door for one replica, and starts it.
    pub(super) async fn start_replica(&self, order: &Order, number: u32) -> Result<(), RunError> {
        let access = &self.access;
        let directory = order.directory.join(format!("subject-{number}"));
        fs::create_dir_all(&directory).map_err(|e| RunError::File(directory.clone(), e))?;
        let kubernetes = Upstream::new(&access.url, Some(&access.ca_pem)).map_err(RunError::Door)?;
        let kubernetes = Way::new(number, Api::Kubernetes, &kubernetes);
        let kubernetes = self.door.encrypted(kubernetes).await.map_err(RunError::Door)?;
        let cloud_url = self.cloud.url();
        let cloud = Upstream::new(cloud_url.trim_end_matches("/v1"), None).map_err(RunError::Door)?;
        let cloud = Way::new(number, Api::Cloud, &cloud);
        let cloud = match order.profile.flavour {
            Flavour::Endpoint => self.door.plain(cloud).await,
            Flavour::Proxy => self.door.proxy(cloud, CLOUD_HOST).await,
        };
        let cloud = cloud.map_err(RunError::Door)?;
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::write(&path, text).map_err(|e| RunError::File(path.clone(), e))?;
            Ok::<_, RunError>(path.display().to_string())
        };
        let authority = self.door.authority_pem();
        let token = access.subject_token.as_deref().unwrap_or_default();
        self.recorder.hide(token);
        let ca = write("ca.pem", authority)?;
        let kubeconfig =
            write("kubeconfig", &kubeconfig(token, &format!("https://{kubernetes}"), authority))?;
        let host = format!("subject-{number}");
        let port = Port::reserve().map_err(|e| RunError::Subject(SubjectError::Port(e)))?;
        let filled = order.profile.fill(&Circumstances {
            kubeconfig: &kubeconfig,
            cloud: &format!("http://{cloud}/v1"),
            token: self.cloud.token(),
            host: &host,
            port: &port.number().to_string(),
            directory: &directory.display().to_string(),
            ca: &ca,
            proxy: &format!("http://{cloud}"),
            ..order.told_to_all()
        });
        let filled = filled.map_err(RunError::Fill)?;
        for (name, text) in &filled.files {
            write(name, text)?;
        }
        let launch = Launch {
            program: order.program.clone(),
            arguments: order.before.iter().cloned().chain(filled.arguments).collect(),
            environment: filled.environment,
            directory,
            host: hosts::can_be_given().then_some(host),
            port,
            health: order.profile.health.clone(),
        };
        let replica = Replica::start(number, launch, &self.clock, &self.recorder);
        self.cast.add(replica.map_err(RunError::Subject)?);
        Ok(())
    }
}

/// The kubeconfig of the subject: through the door.
fn kubeconfig(token: &str, url: &str, authority: &str) -> String {
    let authority = base64::prelude::BASE64_STANDARD.encode(authority);
    format!(
        "apiVersion: v1
kind: Config
current-context: run
clusters:
- name: run
  cluster: {{server: {url:?}, certificate-authority-data: {authority}}}
contexts:
- name: run
  context: {{cluster: run, user: subject, namespace: kube-system}}
users:
- name: subject
  user: {{token: {token}}}
"
    )
}
