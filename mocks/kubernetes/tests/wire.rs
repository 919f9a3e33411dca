//! The wire as clients meet it: identities, strangers, many servers, many connections, bad manners.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use mock_clock::{Clock as _, VirtualClock};
use mock_kubernetes::ControlPlane;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

async fn plane() -> ControlPlane {
    let clock = VirtualClock::idle_skip().unwrap();
    let builder = ControlPlane::builder().bare().clock(clock);
    builder.token("secret", "jane", &["developers"]).start().await.unwrap()
}

async fn client(kubeconfig: &str) -> Client {
    let parsed = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// A TLS connection to `plane`, with the administrator's certificate of `login` if any.
async fn line(plane: &ControlPlane, login: Option<&ControlPlane>) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(plane.ca_pem().as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder().with_root_certificates(roots);
    let config = match login {
        None => builder.with_no_client_auth(),
        Some(login) => {
            let parsed = Kubeconfig::from_yaml(&login.kubeconfig()).unwrap();
            let user = parsed.auth_infos[0].auth_info.as_ref().unwrap();
            let certificate = STANDARD.decode(user.client_certificate_data.as_ref().unwrap()).unwrap();
            let key = serde_json::to_value(user).unwrap()["client-key-data"].as_str().map(str::to_owned);
            let key = STANDARD.decode(key.unwrap()).unwrap();
            let certificate = CertificateDer::from_pem_slice(&certificate).unwrap();
            builder
                .with_client_auth_cert(vec![certificate], PrivateKeyDer::from_pem_slice(&key).unwrap())
                .unwrap()
        }
    };
    let stream = TcpStream::connect(plane.address()).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// What comes until the server closes, however it closes.
async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One request on a connection of its own.
async fn get(stream: &mut TlsStream<TcpStream>, path: &str, headers: &str) -> String {
    let text = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    rest(stream).await
}

#[tokio::test]
async fn a_stranger_learns_how_the_server_is_and_no_more() {
    let plane = plane().await;
    for (path, code, word) in [
        ("/readyz", 200, "ok"),
        ("/version", 200, "v1.35."),
        ("/api", 403, "forbidden: User \\\"system:anonymous\\\" cannot get path \\\"/api\\\""),
        ("/readyz/etcd", 403, "cannot get path"),
        (
            "/api/v1/nodes",
            403,
            "nodes is forbidden: User \\\"system:anonymous\\\" cannot list resource \\\"nodes\\\" in API group \\\"\\\" \
             at the cluster scope",
        ),
    ] {
        let answer = get(&mut line(&plane, None).await, path, "").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{path}: {answer}");
        assert!(answer.contains(word), "{path}: {answer}");
    }
}

#[tokio::test]
async fn proofs_open_and_wrong_ones_are_unauthorized() {
    let (plane, other) = (plane().await, plane().await);
    let nodes = "/api/v1/nodes";
    let answer = get(&mut line(&plane, Some(&plane)).await, nodes, "").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let answer = get(&mut line(&plane, None).await, nodes, "Authorization: Bearer secret\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for (login, headers) in [(None, "Authorization: Bearer wrong\r\n"), (Some(&other), "")] {
        let answer = get(&mut line(&plane, login).await, nodes, headers).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
        let body: serde_json::Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let expected = serde_json::json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Unauthorized", "reason": "Unauthorized", "code": 401,
        });
        assert_eq!(body, expected);
    }
}

#[tokio::test]
async fn several_servers_in_one_process_do_not_meet() {
    let mut planes = Vec::new();
    for _ in 0..20 {
        planes.push(plane().await);
    }
    for plane in &planes {
        client(&plane.kubeconfig()).await.apiserver_version().await.unwrap();
    }
    let stranger = planes[0].kubeconfig_for(&planes[1].url());
    assert!(client(&stranger).await.apiserver_version().await.is_err(), "another authority is not trusted");
    let last = planes.pop().unwrap();
    for plane in planes {
        plane.stop().await;
    }
    client(&last.kubeconfig()).await.apiserver_version().await.unwrap();
}

#[tokio::test]
async fn hundreds_of_connections_are_served_at_once() {
    let plane = plane().await;
    let mut lines = Vec::new();
    for _ in 0..300 {
        lines.push(line(&plane, None).await);
    }
    for mut line in lines {
        assert!(get(&mut line, "/readyz", "").await.ends_with("ok"));
    }
}

#[tokio::test]
async fn bad_manners_cost_nobody_else() {
    let plane = plane().await;
    let mut bad = Vec::new();
    for garbage in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01\x00", b"\0\0\0\0\0\0\0\0"] {
        let mut stream = TcpStream::connect(plane.address()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        bad.push(stream);
    }
    let mut plain = TcpStream::connect(plane.address()).await.unwrap();
    plain.write_all(b"GET /version HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(rest(&mut plain).await.contains("Client sent an HTTP request to an HTTPS server."));
    let mut slow = line(&plane, Some(&plane)).await;
    slow.write_all(b"GET /api/v1/nodes HTTP/1.1\r\nHos").await.unwrap();
    let mut deaf = line(&plane, Some(&plane)).await;
    for _ in 0..50 {
        deaf.write_all(b"GET /openapi/v2 HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    }
    let mut watch = line(&plane, Some(&plane)).await;
    watch.write_all(b"GET /api/v1/nodes?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();

    assert!(get(&mut line(&plane, None).await, "/readyz", "").await.ends_with("ok"));
    plane.clock().sleep(Duration::from_secs(600)).await;
    assert!(get(&mut line(&plane, None).await, "/readyz", "").await.ends_with("ok"));
    assert!(plane.clock().status().jumps() > 0, "{}", plane.clock().status());
    for mut stream in bad {
        assert!(rest(&mut stream).await.len() < 100, "closed, with no more than an alert");
    }
    assert_eq!(rest(&mut slow).await, "");
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let plane = plane().await;
    let mut stream = line(&plane, Some(&plane)).await;
    let body = vec![b' '; 3 * 1024 * 1024 + 1];
    let head =
        format!("POST /api/v1/nodes HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("Request entity too large: limit is 3145728"), "{answer}");
}
