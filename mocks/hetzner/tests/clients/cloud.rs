//! The program under test with an empty project, and a directory for what its client reads and writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mock_clock::{Clock as _, Mode, VirtualClock};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// As long as those of Hetzner.
const TOKEN: &str = "of-the-test-of-the-test-of-the-test-of-the-test-of-the-test-4711";

/// No command of any client takes that long.
const COMMAND_MAX: Duration = Duration::from_secs(30);

pub(crate) struct Cloud {
    endpoint: String,
    pub(crate) directory: Directory,
    clock: VirtualClock,
    _program: Child,
}

/// How a command ended, and what it printed.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Cloud {
    /// What takes seconds takes hundredths of them.
    pub(crate) async fn start() -> Self {
        let clock = VirtualClock::start(Mode::Real, None).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mock-hetzner"));
        command.args(["serve", "--port", "0", "--token", TOKEN, "--rate", "100", "--log", "warn"]);
        let mut program = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let mut first = clock.timeout(COMMAND_MAX, lines.next_line()).await.unwrap().unwrap();
        let said = first.take().unwrap_or_default();
        let endpoint =
            said.strip_prefix("API").unwrap_or_else(|| panic!("it says {said:?}")).trim().to_owned();
        // Nobody else reads what follows, and the program does not mind.
        Self { endpoint, directory: Directory::new(), clock, _program: program }
    }

    /// This client, pointed here.
    pub(crate) fn command(&self, client: &Path) -> Command {
        let mut command = Command::new(client);
        command.env_remove("HCLOUD_CONTEXT").env_remove("HCLOUD_CONFIG").env("NO_PROXY", "127.0.0.1");
        command
            .env("HCLOUD_ENDPOINT", &self.endpoint)
            .env("HCLOUD_TOKEN", TOKEN)
            .env("HOME", &self.directory.0);
        command.current_dir(&self.directory.0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Waits until it ends by itself.
    pub(crate) async fn ended(&self, mut command: Command) -> Result<Ended, String> {
        let child = command.spawn().map_err(|error| error.to_string())?;
        let output = self.clock.timeout(COMMAND_MAX, child.wait_with_output()).await;
        let output = output
            .map_err(|_| format!("still running after {COMMAND_MAX:?}"))?
            .map_err(|error| error.to_string())?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Ok(Ended { code, out: text(output.stdout), err: text(output.stderr) })
    }
}

/// Gone with its owner. A certificate of nobody lies in it, `pair.crt` and `pair.key`.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("client-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        let mut about =
            CertificateParams::new(["a.example.com", "*.b.example.com"].map(str::to_owned)).unwrap();
        about.not_before = date_time_ymd(2020, 1, 1);
        about.not_after = date_time_ymd(2120, 1, 1);
        let key = KeyPair::generate().unwrap();
        fs::write(path.join("pair.crt"), about.self_signed(&key).unwrap().pem()).unwrap();
        fs::write(path.join("pair.key"), key.serialize_pem()).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, files: &BTreeMap<String, String>) {
        for (name, text) in files {
            fs::write(self.0.join(name), text).unwrap();
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
