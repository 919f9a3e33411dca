//! What a replica writes: line by line into the history, and as it is into its log. Both have bounds, and say so when
//! they are reached: a subject that floods its log must not take the machine along.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::history::{LogEvent, Recorder, What};

/// Lines longer than this are cut.
const LINE_MAX: usize = 8 * 1024;
/// What an event costs beside its line.
const EVENT: usize = 100;
/// How much of what a replica writes is told, and how much is kept.
const BOUNDS: Bounds = Bounds { told: 16 << 20, kept: 64 << 20 };
/// So many of its last lines are kept at hand, for whoever asks why it ended.
const LAST_WORDS: usize = 8;
const LAST_WORD_MAX: usize = 400;

/// The log of a replica, over all its processes.
#[derive(Clone)]
pub(super) struct Log {
    replica: u32,
    recorder: Recorder,
    bounds: Bounds,
    written: Arc<Mutex<Written>>,
}

/// How many bytes stand in the history, and in the file.
#[derive(Clone, Copy)]
struct Bounds {
    told: usize,
    kept: usize,
}

struct Written {
    file: fs::File,
    kept: usize,
    told: usize,
    last: VecDeque<String>,
}

impl Log {
    /// An empty log in a file.
    pub(super) fn create(path: &Path, replica: u32, recorder: &Recorder) -> io::Result<Self> {
        let written = Written { file: fs::File::create(path)?, kept: 0, told: 0, last: VecDeque::new() };
        let written = Arc::new(Mutex::new(written));
        Ok(Self { replica, recorder: recorder.clone(), bounds: BOUNDS, written })
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a pipe to its end, in a thread of its own. `open` is dropped then.
    pub(super) fn follow(&self, pipe: impl Read + Send + 'static, open: mpsc::Sender<()>) {
        let log = self.clone();
        std::thread::spawn(move || {
            log.read(pipe);
            drop(open);
        });
    }

    /// The last lines, one below the other.
    pub(super) fn last_words(&self) -> String {
        let mut words = String::new();
        for line in &self.written().last {
            words.extend(["\n    ", line]);
        }
        words
    }

    fn read(&self, pipe: impl Read) {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while let Ok(bytes @ [_, ..]) = pipe.fill_buf() {
            let (part, ends) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&bytes[..=end], true),
                None => (bytes, false),
            };
            self.keep(part);
            let room = LINE_MAX - line.len();
            line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len();
            pipe.consume(used);
            if ends {
                self.tell(&line);
                line.clear();
            }
        }
        if !line.is_empty() {
            self.tell(&line);
        }
    }

    /// Keeps bytes in the file. A full disk must not stop the subject.
    fn keep(&self, bytes: &[u8]) {
        let mut written = self.written();
        let before = written.kept;
        written.kept = before.saturating_add(bytes.len());
        if written.kept <= self.bounds.kept {
            let _ = written.file.write_all(bytes);
        } else if before <= self.bounds.kept {
            let _ = written.file.write_all(b"\n(cut here: it writes more than is kept)\n");
        }
    }

    fn tell(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        let mut written = self.written();
        let before = written.told;
        written.told = before.saturating_add(line.len() + EVENT);
        let told = written.told <= self.bounds.told;
        let cut = !told && before <= self.bounds.told;
        written.last.push_back(line.chars().take(LAST_WORD_MAX).collect());
        if written.last.len() > LAST_WORDS {
            written.last.pop_front();
        }
        drop(written);
        if told {
            self.recorder.record(What::Log(LogEvent { replica: self.replica, line }));
        } else if cut {
            let line = "(cut here: it writes more than is told; its log has more)".to_owned();
            self.recorder.record(What::Log(LogEvent { replica: self.replica, line }));
        }
    }
}

#[cfg(test)]
mod tests {
    use mock_clock::Time;

    use super::*;

    fn read(text: &str, bounds: Bounds) -> (Vec<String>, String, u64) {
        let recorder = Recorder::in_memory(|| (Time::EPOCH, 0));
        let folder =
            std::env::temp_dir().join(format!("scaleproof-log-{}-{}", std::process::id(), bounds.told));
        let log = Log { bounds, ..Log::create(&folder, 0, &recorder).unwrap() };
        log.read(text.as_bytes());
        let length = fs::metadata(&folder).unwrap().len();
        fs::remove_file(folder).unwrap();
        let lines = recorder.events().into_iter().filter_map(|event| match &event.what {
            What::Log(log) => Some(log.line.clone()),
            _ => None,
        });
        (lines.collect(), log.last_words(), length)
    }

    #[test]
    fn lines_are_told_whole_and_long_ones_are_cut() {
        let long = "x".repeat(3 * LINE_MAX);
        let (lines, last, length) = read(&format!("one\n\n{long}\nthe end"), BOUNDS);
        assert_eq!(lines, ["one", "", &long[..LINE_MAX], "the end"]);
        assert!(last.starts_with("\n    one\n    \n    xxx") && last.ends_with("\n    the end"), "{last}");
        assert_eq!(length, long.len() as u64 + 13, "the log has all of it");
    }

    #[test]
    fn a_flood_is_cut_and_says_so() {
        let (lines, last, length) = read(&"word\n".repeat(10_000), Bounds { told: 9_000, kept: 20_000 });
        assert!((20_000..20_100).contains(&length), "{length}");
        assert_eq!(lines.len(), 9_000 / (EVENT + 4) + 1);
        assert!(lines.last().unwrap().starts_with("(cut here"), "{:?}", lines.last());
        assert_eq!(last.lines().count(), LAST_WORDS + 1);
    }
}
