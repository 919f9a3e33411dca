//! The program as a user meets it: its words, its files, its end.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::Arc;

use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustix::process::{Pid, Signal, kill_process};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mock-kubernetes"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ended(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = program().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A directory of the test's own, gone with it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program, serving.
struct Server {
    child: Child,
    greeting: String,
    told: BufReader<ChildStderr>,
    kubeconfig: Kubeconfig,
}

impl Server {
    fn start(place: &str, arguments: &[&str]) -> Self {
        let listen = ["serve", "--listen", "127.0.0.1:0", "--kubeconfig-out", place];
        let mut child = program().args(listen).args(arguments).spawn().unwrap();
        let told = BufReader::new(child.stderr.take().unwrap());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut greeting = String::new();
        while !greeting.contains("Ctrl-C") {
            greeting.push_str(&lines.next().expect("the program tells how it can be ended").unwrap());
            greeting.push('\n');
        }
        let kubeconfig = Kubeconfig::read_from(place).unwrap();
        Self { child, greeting, told, kubeconfig }
    }

    fn url(&self) -> String {
        self.kubeconfig.clusters[0].cluster.as_ref().unwrap().server.clone().unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit code, and what it had told by then.
    fn end(mut self) -> (Option<i32>, String) {
        let mut told = String::new();
        self.told.read_to_string(&mut told).unwrap();
        (self.child.wait().unwrap().code(), told)
    }

    /// A connection with half a request on it.
    fn half_asked(&self) -> StreamOwned<ClientConnection, TcpStream> {
        let cluster = self.kubeconfig.clusters[0].cluster.as_ref().unwrap();
        let pem = kube_data(cluster.certificate_authority_data.as_ref().unwrap());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(self.url().strip_prefix("https://").unwrap()).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let head = b"POST /version HTTP/1.1\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n";
        stream.write_all(head).unwrap();
        // It waits for the rest.
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 100");
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn kube_data(base64: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(base64).unwrap()
}

async fn version(kubeconfig: Kubeconfig) -> Result<String, kube::Error> {
    let config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let client = Client::try_from(config).unwrap();
    client.apiserver_version().await.map(|version| version.git_version)
}

#[test]
fn help_is_for_users() {
    let (code, help, told) = ended(&["serve", "--help"]);
    assert_eq!((code, told.as_str()), (Some(0), ""));
    for word in [
        "--listen",
        "--kubeconfig-out",
        "--token",
        "--bare",
        "--rate",
        "--idle-skip",
        "--start",
        "--seed",
        "--log",
    ] {
        assert!(help.contains(word), "{help}");
    }
    assert!(help.contains("Exit codes") && help.contains("127.0.0.1:6443"), "{help}");
    let (code, help, _) = ended(&["--help"]);
    assert!(code == Some(0) && help.contains("serve"), "{help}");
}

#[test]
fn bad_arguments_are_refused_with_a_reason() {
    for (arguments, reason) in [
        (&[][..], "Usage"),
        (&["serve", "--rate", "0.5"], "may not be slower than real time"),
        (&["serve", "--rate", "fast"], "a number from 1 to 100"),
        (&["serve", "--rate", "5", "--idle-skip"], "cannot be used with"),
        (&["serve", "--start", "tomorrow"], "a moment like"),
        (&["serve", "--start", "2038-01-19"], "real time has the machine's date"),
        (&["serve", "--listen", "6443"], "--listen"),
        (&["serve", "--token", "a b"], "no spaces"),
        (&["serve", "--log", "loud"], "possible values"),
        (&["sirve"], "serve"),
    ] {
        let (code, _, told) = ended(arguments);
        assert_eq!(code, Some(64), "{arguments:?}: {told}");
        assert!(told.contains(reason), "{arguments:?}: {told}");
    }
}

#[test]
fn a_taken_port_is_named_with_the_way_out() {
    let directory = Directory::new("taken");
    let place = directory.file("kubeconfig");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (code, greeting, told) =
        ended(&["serve", "--listen", &address.to_string(), "--kubeconfig-out", &place]);
    assert_eq!((code, greeting.as_str()), (Some(69), ""), "{told}");
    assert!(told.contains(&format!("port {}", address.port())) && told.contains("--listen"), "{told}");
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 0);
}

#[test]
fn a_kubeconfig_that_cannot_be_written_is_an_error() {
    let directory = Directory::new("unwritable");
    for place in [directory.file("missing/kubeconfig"), directory.file("")] {
        let (code, greeting, told) = ended(&["serve", "--listen", "127.0.0.1:0", "--kubeconfig-out", &place]);
        assert_eq!((code, greeting.as_str()), (Some(69), ""), "{told}");
        assert!(told.contains(&place) && told.contains("--kubeconfig-out"), "{told}");
    }
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 0);
}

#[tokio::test]
async fn it_serves_until_a_signal_and_its_kubeconfig_stays() {
    let directory = Directory::new("serves");
    for (number, signal) in [Signal::INT, Signal::TERM].into_iter().enumerate() {
        let place = directory.file(&format!("kubeconfig-{number}"));
        let server = Server::start(&place, &["--bare", "--log", "debug", "--seed", "7"]);
        assert!(server.greeting.contains(&server.url()), "{}", server.greeting);
        assert!(server.greeting.contains(&format!("kubectl --kubeconfig {place}")), "{}", server.greeting);
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(version(server.kubeconfig.clone()).await.unwrap().starts_with("v1.35."));
        server.signal(signal);
        let (code, told) = server.end();
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains("DEBUG GET /version 200 "), "{told}");
        assert!(fs::exists(&place).unwrap());
    }
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 2, "no drafts are left");
}

#[tokio::test]
async fn a_token_of_the_users_choice_opens_it() {
    let directory = Directory::new("token");
    let arguments = ["--token", "secret", "--rate", "10", "--start", "2038-01-19"];
    let server = Server::start(&directory.file("kubeconfig"), &arguments);
    assert!(server.greeting.contains("Virtual time is 2038-01-19T00:"), "{}", server.greeting);
    for (token, opens) in [("secret", true), ("wrong", false)] {
        let mut kubeconfig = server.kubeconfig.clone();
        kubeconfig.auth_infos[0].auth_info =
            Some(serde_json::from_value(serde_json::json!({"token": token})).unwrap());
        assert_eq!(version(kubeconfig).await.is_ok(), opens);
    }
}

#[test]
fn who_is_told_twice_ends_at_once() {
    let directory = Directory::new("twice");
    let mut server = Server::start(&directory.file("kubeconfig"), &[]);
    let _asking = server.half_asked();
    server.signal(Signal::INT);
    let mut told = String::new();
    while !told.contains("stopping") {
        assert!(server.told.read_line(&mut told).unwrap() > 0, "{told}");
    }
    server.signal(Signal::INT);
    assert_eq!(server.end().0, Some(130));
}
