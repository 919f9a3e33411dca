//! The program of a subject: what it is byte by byte, which version it says it is, and what is wrong with one that does
//! not start. It is not trusted: it may hang, and write without end.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use mock_clock::{Clock as _, Mode, VirtualClock};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::terms::Version;

/// How long it may take to tell its version, in real time.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);
/// The number of this processor's kind in ELF files.
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
/// So many bytes of what it then says are read.
const WORDS_MAX: u64 = 64 * 1024;

/// The first version among the words that a program says of itself when it is given these arguments.
pub fn told_version(program: &Path, arguments: &[String]) -> Option<Version> {
    if arguments.is_empty() {
        return None;
    }
    let clock = VirtualClock::start(Mode::Real, None).ok()?;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = clock.spawn(command).ok()?;
    let words = [process.stdout.take().map(heard), process.stderr.take().map(heard)];
    let deadline = clock.now() + PATIENCE;
    while clock.now() < deadline && matches!(process.try_wait(), Ok(None)) {
        clock.sleep(LOOK).wait();
    }
    // Whatever it has started holds the pipes open.
    if let Some(group) = Pid::from_raw(process.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = process.wait();
    let words: Vec<_> = words.into_iter().flatten().collect();
    while clock.now() < deadline && !words.iter().all(JoinHandle::is_finished) {
        clock.sleep(LOOK).wait();
    }
    let words = words.into_iter().filter(JoinHandle::is_finished).filter_map(|words| words.join().ok());
    words.into_iter().find_map(|words| first_version(&words))
}

/// Reads what it says, in a thread. Whoever says more than is read finds the pipe closed.
fn heard(pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(WORDS_MAX).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn first_version(words: &str) -> Option<Version> {
    words
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '"' | '(' | ')'))
        .find_map(|word| word.trim_end_matches('.').parse().ok())
}

/// Why this file is no program for this machine. The system would have a shell read what it does not know itself.
pub(super) fn unfit(program: &Path) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    fs::File::open(program)?.take(20).read_to_end(&mut head)?;
    let machine = head.get(18..20).map(|at| u16::from_le_bytes([at[0], at[1]]));
    Ok(match (head.as_slice(), machine) {
        ([b'#', b'!', ..], _) => None,
        ([0x7f, b'E', b'L', b'F', ..], Some(machine)) if machine == MACHINE => None,
        ([0x7f, b'E', b'L', b'F', ..], machine) => Some(format!(
            "it is built for another processor (ELF machine {}, and this one is {MACHINE}): build it for this machine",
            machine.unwrap_or(0)
        )),
        _ => Some(
            "it is neither a program in ELF format nor a script whose first line names its interpreter (#!)"
                .to_owned(),
        ),
    })
}

/// What to do about a program that the system does not start.
pub(super) fn advice(refusal: &io::Error) -> &'static str {
    match refusal.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => ": it is not there, or the interpreter that it names in its first line is not",
        Some(Errno::ACCESS) => ": it may not be executed; is it the right file? `chmod +x` would allow it",
        _ => "",
    }
}

/// What a program is, byte by byte: its SHA-256.
pub fn digest(program: &Path) -> io::Result<String> {
    let mut file = fs::File::open(program)?;
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    let mut bytes = vec![0; 1 << 20];
    loop {
        let length = file.read(&mut bytes)?;
        if length == 0 {
            break;
        }
        context.update(&bytes[..length]);
    }
    Ok(hexadecimal(context.finish().as_ref()))
}

/// The SHA-256 of a text.
pub fn digest_of(text: &str) -> String {
    hexadecimal(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(script: &str) -> Option<Version> {
        told_version(Path::new("/bin/sh"), &["-c".to_owned(), script.to_owned()])
    }

    #[test]
    fn the_first_version_among_its_words_is_the_one() {
        assert_eq!(told("echo 'build (1.36.1), go 1.26.2'"), Some(Version::new(1, 36, 1)));
        assert_eq!(told("echo I0101 >&2; echo 'version 1.32.7.' >&2; exit 3"), Some(Version::new(1, 32, 7)));
        assert_eq!(told("echo no"), None);
    }

    #[test]
    fn one_that_floods_and_one_that_leaves_children_behind_are_ended() {
        assert_eq!(told("echo 1.2.3; exec yes"), Some(Version::new(1, 2, 3)));
        assert_eq!(told("sleep 1000 & echo 1.2.3"), Some(Version::new(1, 2, 3)));
    }
}
