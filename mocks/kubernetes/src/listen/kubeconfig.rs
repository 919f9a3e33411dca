//! The text of a kubeconfig: one cluster, one user, one context.
//!
//! Written as text, because every value in it is base64, a URL or a name of ours.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::certificates::Credentials;

/// How the user of a kubeconfig proves who it is.
pub(crate) enum Login<'a> {
    Certificate(&'a Credentials),
    Token(&'a str),
}

/// The kubeconfig that leads to `server`, a URL.
pub(crate) fn text(server: &str, authority_pem: &str, login: &Login<'_>) -> String {
    let user = match login {
        Login::Certificate(credentials) => format!(
            "client-certificate-data: {}\n    client-key-data: {}",
            STANDARD.encode(&credentials.certificate_pem),
            STANDARD.encode(&credentials.key_pem)
        ),
        // A JSON string is a YAML string, whatever is in it.
        Login::Token(token) => format!("token: {}", serde_json::Value::from(*token)),
    };
    let authority = STANDARD.encode(authority_pem);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: mock-kubernetes
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: mock-kubernetes
  user:
    {user}
contexts:
- name: mock-kubernetes
  context:
    cluster: mock-kubernetes
    user: mock-kubernetes
current-context: mock-kubernetes
"
    )
}

#[cfg(test)]
mod tests {
    use kube::config::Kubeconfig;

    use super::*;

    #[test]
    fn a_client_reads_what_was_written() {
        let credentials = Credentials { certificate_pem: "C".to_owned(), key_pem: "K".to_owned() };
        for (login, token) in
            [(Login::Certificate(&credentials), None), (Login::Token("a: \"b\" # c"), Some("a: \"b\" # c"))]
        {
            let read = Kubeconfig::from_yaml(&text("https://127.0.0.1:6443", "PEM", &login)).unwrap();
            assert_eq!(read.current_context.as_deref(), Some("mock-kubernetes"));
            let cluster = read.clusters[0].cluster.as_ref().unwrap();
            assert_eq!(cluster.server.as_deref(), Some("https://127.0.0.1:6443"));
            assert_eq!(cluster.certificate_authority_data.as_deref(), Some("UEVN"));
            let user = read.auth_infos[0].auth_info.as_ref().unwrap();
            assert_eq!(user.token.is_some(), token.is_some());
            assert_eq!(user.client_certificate_data.is_some(), token.is_none());
        }
    }
}
