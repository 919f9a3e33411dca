//! The cloud behind the door: by its endpoint, and through the proxy.

use mock_hetzner::Cloud;
use scaleproof::door::{Upstream, Way};
use scaleproof::terms::Api;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::stage::{Stage, ask, ask_on, encrypted, get, multiplexed};

const TOKEN: &str = "a-token-of-the-cloud";
const HOST: &str = "api.hetzner.cloud";

async fn cloud(stage: &Stage) -> (Cloud, Upstream) {
    let cloud = Cloud::builder().clock(stage.clock.clone()).token(TOKEN).start().await.unwrap();
    let upstream = Upstream::new(&format!("http://{}", cloud.address()), None).unwrap();
    (cloud, upstream)
}

fn servers(base: &str) -> hyper::Request<http_body_util::Full<bytes::Bytes>> {
    let mut request = get(&format!("{base}/v1/servers"));
    request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
    request
}

#[tokio::test]
async fn the_endpoint_is_the_cloud_s() {
    let stage = Stage::new();
    let (_cloud, upstream) = cloud(&stage).await;
    let door = stage.door.plain(Way::new(3, Api::Cloud, &upstream)).await.unwrap();
    let response = ask(door, servers("")).await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.headers().contains_key("ratelimit-remaining"));
    assert_eq!(ask(door, get("/v1/servers")).await.unwrap().status(), 401);
    let calls = stage.calls();
    assert_eq!(
        (calls[0].replica, calls[0].to, &calls[0].answer),
        (3, Api::Cloud, &None),
        "a list is not kept"
    );
    assert_eq!(calls[1].answer.as_ref().unwrap()["error"]["code"], "unauthorized");
    assert!(!format!("{calls:?}").contains(TOKEN));
}

async fn connect(proxy: std::net::SocketAddr, to: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(proxy).await.unwrap();
    stream.write_all(format!("CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n\r\n").as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    (String::from_utf8(head).unwrap(), stream)
}

#[tokio::test]
async fn the_proxy_is_the_cloud_s_host_to_whoever_trusts_the_door() {
    let stage = Stage::new();
    let (_cloud, upstream) = cloud(&stage).await;
    let proxy = stage.door.proxy(Way::new(0, Api::Cloud, &upstream), HOST).await.unwrap();
    let (head, stream) = connect(proxy, "api.hetzner.cloud:443").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let stream = encrypted(stage.door.authority_pem(), HOST, stream, "http/1.1").await;
    assert_eq!(ask_on(stream, servers("")).await.unwrap().status(), 200);
    let (_, stream) = connect(proxy, "API.hetzner.cloud:443").await;
    let stream = encrypted(stage.door.authority_pem(), HOST, stream, "h2").await;
    let response =
        multiplexed(stream).await.send_request(servers("https://api.hetzner.cloud")).await.unwrap();
    assert_eq!(response.status(), 200);
    let paths: Vec<_> = stage.recorded(2).await.into_iter().map(|call| call.path).collect();
    assert_eq!(paths, ["/v1/servers", "/v1/servers"]);
}

#[tokio::test]
async fn the_proxy_leads_nowhere_else_and_says_so() {
    let stage = Stage::new();
    let (_cloud, upstream) = cloud(&stage).await;
    let proxy = stage.door.proxy(Way::new(0, Api::Cloud, &upstream), HOST).await.unwrap();
    let (head, _) = connect(proxy, "example.com:443").await;
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    let plain = ask(proxy, get("http://example.com/x")).await.unwrap();
    assert_eq!(plain.status(), 403);
    assert!(String::from_utf8_lossy(plain.body()).contains("https://api.hetzner.cloud and nowhere else"));
    let refused: Vec<_> =
        stage.calls().into_iter().map(|call| (call.method, call.path, call.status)).collect();
    let refusals = [("CONNECT", "example.com:443"), ("GET", "http://example.com/x")];
    assert_eq!(refused, refusals.map(|(method, path)| (method.to_owned(), path.to_owned(), 403)));
}

#[tokio::test]
async fn who_does_not_speak_tls_is_told() {
    let stage = Stage::new();
    let (_cloud, upstream) = cloud(&stage).await;
    let door = stage.door.encrypted(Way::new(0, Api::Cloud, &upstream)).await.unwrap();
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let _ = stream.read_to_end(&mut Vec::new()).await;
    let mut follower = stage.recorder.follow();
    follower.next().await.unwrap();
    assert_eq!((stage.misspoken().len(), stage.troubles()), (1, 0));
}
