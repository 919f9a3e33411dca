//! The program as a user meets it: its words, its files, its end.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mock-hetzner"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Exit code, output and errors of a program that ends by itself.
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

    fn with(&self, name: &str, text: &str) -> String {
        let place = self.file(name);
        fs::write(&place, text).unwrap();
        place
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
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = program().args(["serve", "--port", "0"]).args(arguments).spawn().unwrap();
        let told = BufReader::new(child.stderr.take().unwrap());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut greeting = String::new();
        while !greeting.contains("Ctrl-C") {
            greeting.push_str(&lines.next().expect("the program tells how it can be ended").unwrap());
            greeting.push('\n');
        }
        Self { child, greeting, told }
    }

    /// What stands behind a word of the greeting.
    fn address(&self, word: &str) -> String {
        let line = self.greeting.lines().find(|line| line.starts_with(word)).unwrap();
        let url = line.split_whitespace().nth(1).unwrap();
        url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned()
    }

    /// Status and body.
    fn ask(&self, word: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address(word)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: cloud\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn groups(&self) -> usize {
        self.ask("API", "GET", "/v1/placement_groups", "").1["placement_groups"].as_array().unwrap().len()
    }

    fn make_group(&self, name: &str) {
        let body = format!(r#"{{"name": "{name}", "type": "spread"}}"#);
        assert_eq!(self.ask("API", "POST", "/v1/placement_groups", &body).0, 201);
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
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_says_how_to_reach_it_and_ends_when_told() {
    for signal in [Signal::INT, Signal::TERM] {
        let server = Server::start(&["--token", "secret"]);
        assert!(server.greeting.contains("HCLOUD_TOKEN=secret"), "{}", server.greeting);
        assert_eq!(server.ask("API", "GET", "/v1/locations", "").0, 200);
        assert_eq!(server.ask("admin", "GET", "/healthz", "").0, 200);
        server.signal(signal);
        let (code, told) = server.end();
        assert_eq!((code, told.as_str()), (Some(0), ""));
    }
}

#[test]
fn too_many_connections_are_cut_and_it_goes_on() {
    let server = Server::start(&["--token", "secret"]);
    let limit = Rlimit { current: Some(64), maximum: Some(64) };
    prlimit(Some(Pid::from_child(&server.child)), Resource::Nofile, limit).unwrap();
    let address = server.address("API");
    let mut connections: Vec<TcpStream> = (0..100).map_while(|_| TcpStream::connect(&address).ok()).collect();
    // The first one was taken in, so that its end is the end of all.
    let _ = connections[0].read(&mut [0]);
    drop(connections);
    // Who comes while it is about to listen anew is cut as well.
    let answered = || {
        let mut stream = TcpStream::connect(&address)?;
        stream.write_all(b"GET /v1/locations HTTP/1.0\r\nAuthorization: Bearer secret\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok::<_, io::Error>(answer.starts_with("HTTP/1.0 200"))
    };
    while !answered().unwrap_or(false) {
        std::thread::yield_now();
    }
    server.signal(Signal::INT);
    let (code, told) = server.end();
    assert!(code == Some(0) && told.contains("were cut: there may be too many of them"), "{told}");
}

#[test]
fn without_a_token_one_is_drawn() {
    let server = Server::start(&[]);
    let token = server.greeting.split("HCLOUD_TOKEN=").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(token.len(), 64);
    assert_eq!(server.ask("API", "GET", "/v1/locations", "").0, 401, "this one is not it");
}

#[test]
fn what_it_holds_outlives_it() {
    let directory = Directory::new("state");
    let place = directory.file("state.json");
    let arguments = ["--token", "secret", "--state", place.as_str()];
    let server = Server::start(&arguments);
    server.make_group("one");
    server.signal(Signal::INT);
    assert_eq!(server.end().0, Some(0));
    let server = Server::start(&arguments);
    assert_eq!(server.groups(), 1);
    server.make_group("the-second");
    // It is written down as soon as it can be: wait for that, then kill it without a word.
    while !fs::read_to_string(&place).unwrap().contains("the-second") {
        std::thread::yield_now();
    }
    server.signal(Signal::KILL);
    assert_eq!(server.end().0, None);
    let server = Server::start(&arguments);
    assert_eq!(server.groups(), 2);
}

#[test]
fn a_state_is_one_program_s_and_can_be_written() {
    let directory = Directory::new("one");
    let place = directory.file("state.json");
    let arguments = ["--token", "secret", "--state", place.as_str()];
    let first = Server::start(&arguments);
    let refused = |place: &str| {
        let (code, out, told) = ended(&["serve", "--port", "0", "--state", place]);
        assert!(code == Some(64) && out.is_empty(), "{place}: {code:?} {out} {told}");
        told
    };
    assert!(refused(&place).contains("another program keeps its state there"));
    first.make_group("one");
    while !fs::read_to_string(&place).unwrap().contains("\"one\"") {
        std::thread::yield_now();
    }
    assert!(
        refused(&place).contains("another program keeps its state there"),
        "not when it was written anew either"
    );
    first.signal(Signal::KILL);
    first.end();
    assert_eq!(Server::start(&arguments).groups(), 1, "who is killed keeps nothing");
    assert!(refused(&directory.file("missing/state.json")).contains("No such file or directory"));
    assert!(refused("/dev/full").contains("is no file"));
}

#[test]
fn faster_time_goes_on_from_a_state_and_real_time_waits_for_it() {
    let directory = Directory::new("ahead");
    let place = directory.file("state.json");
    let arguments = ["--token", "secret", "--state", place.as_str()];
    let server = Server::start(&arguments);
    server.signal(Signal::INT);
    server.end();
    let mut state: Value = serde_json::from_str(&fs::read_to_string(&place).unwrap()).unwrap();
    state["taken"] = "2300-01-01T00:00:00Z".into();
    fs::write(&place, state.to_string()).unwrap();
    let server = Server::start(&[&arguments[..], &["--rate", "2"]].concat());
    assert!(server.greeting.contains("Virtual time is 2300-01-01T00:00:0"), "{}", server.greeting);
    server.signal(Signal::KILL);
    server.end();
    let server = Server::start(&arguments);
    server.signal(Signal::INT);
    let told = server.end().1;
    assert!(told.contains("the state is of 2300-01-01T00:00:0"), "{told}");
}

#[test]
fn a_port_that_is_taken_is_named_with_the_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, _, told) = ended(&["serve", "--port", &port, "--admin-port", "0"]);
    assert_eq!(code, Some(69));
    assert!(
        told.contains(&format!("failed to listen on 127.0.0.1:{port}")) && told.contains("--port 0"),
        "{told}"
    );
    let (code, _, told) = ended(&["serve", "--port", "0", "--admin-port", &port]);
    assert_eq!(code, Some(69));
    assert!(told.contains("--admin-port 0"), "{told}");
}

#[test]
fn a_bad_catalogue_is_told_with_file_and_line() {
    let directory = Directory::new("catalogue");
    directory.with("limits.yaml", "limits:\n  servers: many\n  cuores: 3\n");
    let (code, _, told) = ended(&["serve", "--port", "0", "--catalogue", directory.0.to_str().unwrap()]);
    assert_eq!(code, Some(64));
    assert!(told.contains("limits.yaml:2:") && told.contains("limits.yaml:3:"), "{told}");
    let (code, _, told) = ended(&["serve", "--port", "0", "--catalogue", "/nowhere"]);
    assert_eq!(code, Some(64));
    assert!(told.contains("/nowhere"), "{told}");
}

#[test]
fn a_bad_state_is_told_and_left_alone() {
    let directory = Directory::new("bad-state");
    for (text, expected) in [("{", "EOF"), (r#"{"version": 99}"#, "version 99"), ("", "EOF")] {
        let place = directory.with("state.json", text);
        let (code, _, told) = ended(&["serve", "--port", "0", "--state", &place]);
        assert_eq!(code, Some(64));
        assert!(told.contains(expected) && told.contains(&place), "{told}");
        assert_eq!(fs::read_to_string(&place).unwrap(), text);
    }
    let (code, _, told) = ended(&["serve", "--port", "0", "--state", directory.0.to_str().unwrap()]);
    assert_eq!(code, Some(64), "{told}");
}

#[test]
fn arguments_that_cannot_be_are_refused() {
    for arguments in [
        vec!["serve", "--token", "with space"],
        vec!["serve", "--rate", "0"],
        vec!["serve", "--rate", "fast"],
        vec!["serve", "--rate", "2", "--idle-skip"],
        vec!["serve", "--start", "2038-01-19"],
        vec!["serve", "--api-profile", "1999"],
        vec!["serve", "--requests-per-hour", "0"],
        vec!["serve", "--port", "70000"],
        vec!["dance"],
    ] {
        let (code, _, told) = ended(&arguments);
        assert_eq!(code, Some(64), "{arguments:?}: {told}");
    }
    let (code, help, _) = ended(&["serve", "--help"]);
    assert_eq!(code, Some(0));
    for word in
        ["--catalogue", "--state", "--rate", "--idle-skip", "--start", "HCLOUD_ENDPOINT", "Exit codes"]
    {
        assert!(help.contains(word), "{help}");
    }
}

#[test]
fn time_can_pass_faster_and_the_api_be_older() {
    let server = Server::start(&["--token", "secret", "--rate", "100", "--api-profile", "2024"]);
    let body =
        r#"{"name": "one", "server_type": "cx22", "image": "ubuntu-24.04", "datacenter": "fsn1-dc14"}"#;
    let (status, made) = server.ask("API", "POST", "/v1/servers", body);
    assert_eq!(status, 422, "the date is the machine's: {made}");
    let (status, made) = server.ask("API", "POST", "/v1/servers", &body.replace("cx22", "cx23"));
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["server"]["datacenter"]["name"], "fsn1-dc14");
    while server.ask("API", "GET", "/v1/servers/100000001", "").1["server"]["status"] != "running" {}
    server.signal(Signal::INT);
    let told = server.end().1;
    assert!(told.contains("virtual time at 100 times real time"), "{told}");
}
