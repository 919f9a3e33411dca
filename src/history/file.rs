//! A history as JSON lines: the header, then one event a line. Written as it happens, read by whoever judges it.
//!
//! A line that stands is never changed, so a crash can only tear the last one; that one is left out when the history
//! is read, and the history says that it was cut short. It does not record: see [`super::recorder`].

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use mock_clock::Time;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Event, Header, History, What};

/// The format that is written, and the newest that is understood to the last word.
pub const FORMAT: u32 = 1;

/// Writes a whole history.
///
/// One that was cut short is written without the event that says it came to its end.
pub fn write(history: &History, out: impl Write) -> Result<(), HistoryError> {
    let mut out = BufWriter::new(out);
    let ended = matches!(history.events.last(), Some(Event { what: What::End, .. }));
    let dropped = usize::from(ended && history.cut_short.is_some());
    out.write_all(&line(&history.header)?).map_err(HistoryError::Write)?;
    for event in &history.events[..history.events.len() - dropped] {
        out.write_all(&line(event)?).map_err(HistoryError::Write)?;
    }
    out.flush().map_err(HistoryError::Write)
}

/// Reads the history in a file.
pub fn open(path: &Path) -> Result<History, HistoryError> {
    let file = File::open(path).map_err(|source| HistoryError::Open { path: path.to_owned(), source })?;
    read(BufReader::new(file))
}

/// Reads a history.
///
/// ```
/// use scaleproof::history::file;
///
/// let error = file::read("not JSON\n".as_bytes()).unwrap_err();
/// assert!(error.to_string().starts_with("read line 1 of the history"));
/// ```
pub fn read(mut from: impl BufRead) -> Result<History, HistoryError> {
    let mut bytes = Vec::new();
    let mut number = 1;
    if !next(&mut from, &mut bytes, number)? {
        return Err(HistoryError::Empty);
    }
    let header: Header =
        serde_json::from_slice(&bytes).map_err(|source| HistoryError::Line { number, source })?;
    let mut events = Vec::new();
    let mut torn = false;
    while next(&mut from, &mut bytes, number + 1)? {
        number += 1;
        match event(&bytes, header.format) {
            Ok(event) => events.push(event),
            Err(_) if !bytes.ends_with(b"\n") => torn = true,
            Err(source) => return Err(HistoryError::Line { number, source }),
        }
    }
    let cut_short =
        cut_short(&events).map(|why| if torn { format!("{why}, and line {number} is torn") } else { why });
    Ok(History { header, events, cut_short })
}

/// Why these are not all events of a run.
pub(super) fn cut_short(events: &[Event]) -> Option<String> {
    match events.last() {
        Some(Event { what: What::End, .. }) => None,
        Some(last) => {
            Some(format!("nothing was recorded after {}, and that is not the end of the run", last.at))
        }
        None => Some("no event was recorded".to_owned()),
    }
}

/// A value as a line.
pub(super) fn line(value: &impl serde::Serialize) -> Result<Vec<u8>, HistoryError> {
    let mut line = serde_json::to_vec(value).map_err(HistoryError::Unwritable)?;
    line.push(b'\n');
    Ok(line)
}

/// The next line with its end, or false after the last.
fn next(from: &mut impl BufRead, bytes: &mut Vec<u8>, number: usize) -> Result<bool, HistoryError> {
    bytes.clear();
    let read = from.read_until(b'\n', bytes).map_err(|source| HistoryError::Read { number, source })?;
    Ok(read > 0)
}

/// An event; of a newer format, what is not understood is a trouble, so that whatever depends on it is unknown.
fn event(bytes: &[u8], format: u32) -> Result<Event, serde_json::Error> {
    /// What every event has in every format.
    #[derive(Deserialize)]
    struct Moment {
        at: Time,
        real_us: u64,
        #[serde(rename = "what")]
        _what: IgnoredAny,
    }
    serde_json::from_slice(bytes).or_else(|error| {
        if format <= FORMAT {
            return Err(error);
        }
        let Moment { at, real_us, .. } = serde_json::from_slice(bytes)?;
        let says = format!("this event is of format {format}, and only {FORMAT} is understood here: {error}");
        Ok(Event { at, real_us, what: What::Trouble(says) })
    })
}

/// Why a history cannot be read or written. Reads after "failed to".
#[derive(Debug)]
#[non_exhaustive]
pub enum HistoryError {
    /// The file is not there.
    Open {
        /// Where it should be.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The file cannot be made.
    Create {
        /// Where it should be.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// There is not even a header.
    Empty,
    /// A line cannot be had.
    Read {
        /// The first is 1.
        number: usize,
        /// What happened.
        source: io::Error,
    },
    /// A line is no event, or the first one no header.
    Line {
        /// The first is 1.
        number: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The disk does not take it.
    Write(io::Error),
    /// A value that JSON does not have.
    Unwritable(serde_json::Error),
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { path, source } => write!(f, "open the history {}: {source}", path.display()),
            Self::Create { path, source } => write!(f, "create the history {}: {source}", path.display()),
            Self::Empty => f.write_str("read the history: it is empty; its first line should be a header"),
            Self::Read { number, source } => write!(f, "read line {number} of the history: {source}"),
            Self::Line { number: 1, source } => {
                write!(f, "read line 1 of the history, its header: {source}")
            }
            Self::Line { number, source } => {
                write!(f, "read line {number} of the history, an event: {source}")
            }
            Self::Write(source) => write!(f, "write the history: {source}"),
            Self::Unwritable(source) => write!(f, "write an event of the history as JSON: {source}"),
        }
    }
}

impl std::error::Error for HistoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open { source, .. }
            | Self::Create { source, .. }
            | Self::Read { source, .. }
            | Self::Write(source) => Some(source),
            Self::Line { source, .. } | Self::Unwritable(source) => Some(source),
            Self::Empty => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{ClusterFacts, LogEvent, MachineFacts, Phase, ScenarioFacts, SubjectFacts};
    use super::*;
    use crate::terms::Provider;

    pub(crate) fn header() -> Header {
        Header {
            format: FORMAT,
            scaleproof: "0.1.0".to_owned(),
            scenario: ScenarioFacts {
                path: "suites/a.yaml".to_owned(),
                title: "a".to_owned(),
                digest: String::new(),
                expect: Vec::new(),
                convicts: Vec::new(),
            },
            seed: 7,
            plan: json!({}),
            subject: SubjectFacts {
                profile: "p".to_owned(),
                profile_path: None,
                profile_digest: None,
                provider: Provider::Hetzner,
                version: None,
                digest: None,
                command: Vec::new(),
                environment: BTreeMap::new(),
                replicas: 1,
                timers: BTreeMap::new(),
                options: BTreeMap::new(),
                deviations: Vec::new(),
            },
            pools: Vec::new(),
            cluster: ClusterFacts { kind: "embedded".to_owned(), version: "v1.35.0".to_owned() },
            time: "idle-skip".to_owned(),
            began: Time::EPOCH,
            machine: MachineFacts { system: "Linux".to_owned(), processors: 4 },
        }
    }

    fn logged(lines: &[String]) -> History {
        let mut whats: Vec<What> = vec![What::Phase(Phase::Prepare)];
        whats.extend(lines.iter().map(|line| What::Log(LogEvent { replica: 0, line: line.clone() })));
        whats.push(What::End);
        let events = (0u64..).zip(whats).map(|(second, what)| Event {
            at: Time::EPOCH + Duration::from_secs(second),
            real_us: second,
            what,
        });
        History { header: header(), events: events.collect(), cut_short: None }
    }

    fn written(history: &History) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(history, &mut bytes).unwrap();
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]

        #[test]
        fn cut_at_any_byte_it_is_a_prefix_and_says_so(lines in proptest::collection::vec("\\PC{0,12}", 0..4)) {
            let history = logged(&lines);
            let bytes = written(&history);
            prop_assert_eq!(&read(bytes.as_slice()).unwrap(), &history);
            let header_ends = bytes.iter().position(|byte| *byte == b'\n').unwrap();
            for length in header_ends + 1..bytes.len() {
                let cut = read(&bytes[..length]).unwrap();
                prop_assert!(history.events.starts_with(&cut.events), "{}", length);
                // Only the end of the last line is missing: all has been said.
                prop_assert_eq!(cut.cut_short.is_none(), length == bytes.len() - 1);
                let lines = bytes[..length].split(|byte| *byte == b'\n').count() - 1;
                prop_assert!(cut.events.len() >= lines - 1, "{} whole lines", lines);
            }
        }
    }

    #[test]
    fn a_torn_header_is_an_error_with_its_line() {
        let bytes = written(&logged(&[]));
        assert!(matches!(read(&b""[..]), Err(HistoryError::Empty)));
        let told = read(&bytes[..40]).unwrap_err().to_string();
        assert!(told.starts_with("read line 1 of the history, its header: "), "{told}");
    }

    #[test]
    fn a_bad_line_in_the_middle_is_an_error_with_its_line() {
        let mut text = String::from_utf8(written(&logged(&["x".to_owned()]))).unwrap();
        text = text.replace("\"log\"", "\"lag\"");
        let told = read(text.as_bytes()).unwrap_err().to_string();
        assert!(told.starts_with("read line 3 of the history, an event: "), "{told}");
    }

    #[test]
    fn what_a_newer_format_adds_is_ignored_or_a_trouble() {
        let mut history = logged(&["x".to_owned()]);
        history.header.format = FORMAT + 1;
        let text = String::from_utf8(written(&history)).unwrap();
        let text = text.replace("\"real_us\":0", "\"real_us\":0,\"mood\":\"good\"");
        let text = text.replace("{\"log\":", "{\"song\":");
        let read = read(text.as_bytes()).unwrap();
        assert_eq!(read.events[0], history.events[0]);
        assert!(matches!(&read.events[1].what, What::Trouble(says) if says.contains("song")), "{read:?}");
        assert_eq!(read.cut_short, None);
    }

    #[test]
    fn a_history_that_was_cut_short_stays_so() {
        let mut history = logged(&[]);
        history.cut_short = Some("the disk is full".to_owned());
        assert!(read(written(&history).as_slice()).unwrap().cut_short.is_some());
    }
}
