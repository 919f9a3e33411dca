//! The recorder: takes down what happens while it happens, in one order, for the file and for whoever watches.
//!
//! It is a handle that everybody may have. An event is stamped, numbered and written under one lock, so the order of
//! the history is the order of its moments; one that is in the file has left this process, so a crash loses nothing that was
//! recorded before. It reads no clock of its own and judges nothing.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use mock_clock::Time;
use tokio::sync::watch;

use super::file::{self, HistoryError};
use super::{Event, Header, History, What};

/// What is shorter is no secret: it would be found everywhere.
const SECRET_MIN: usize = 6;
/// What stands where a secret stood.
pub(crate) const MASK: &str = "(secret)";

/// Records events. Clones record into the same history.
///
/// ```
/// use mock_clock::Time;
/// use scaleproof::history::{Phase, Recorder, What};
///
/// let recorder = Recorder::in_memory(|| (Time::EPOCH, 0));
/// recorder.record(What::Phase(Phase::Prepare));
/// recorder.record(What::End);
/// assert_eq!(recorder.events().len(), 2);
/// ```
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    now: Box<dyn Fn() -> (Time, u64) + Send + Sync>,
    state: Mutex<State>,
    /// How many events there are.
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    events: Vec<Arc<Event>>,
    file: Option<File>,
    /// As JSON writes them, the longest first.
    secrets: Vec<String>,
    ended: bool,
    lost: Option<String>,
}

impl Recorder {
    /// Records into memory alone. `now` tells the virtual moment and the real microseconds since the run began.
    pub fn in_memory(now: impl Fn() -> (Time, u64) + Send + Sync + 'static) -> Self {
        let shared = Shared { now: Box::new(now), state: Mutex::default(), count: watch::channel(0).0 };
        Self { shared: Arc::new(shared) }
    }

    /// Records into a file as well, which begins with `header`. A file that is there already is lost.
    pub fn to_file(
        path: &Path,
        header: &Header,
        now: impl Fn() -> (Time, u64) + Send + Sync + 'static,
    ) -> Result<Self, HistoryError> {
        let recorder = Self::in_memory(now);
        let mut file =
            File::create(path).map_err(|source| HistoryError::Create { path: path.to_owned(), source })?;
        file.write_all(&file::line(header)?).map_err(HistoryError::Write)?;
        recorder.state().file = Some(file);
        Ok(recorder)
    }

    /// From now on this text, plain or in base64, stands in no event. Texts of a few letters are no secrets.
    pub fn hide(&self, secret: &str) {
        if secret.len() < SECRET_MIN {
            return;
        }
        let mut state = self.state();
        state.secrets.extend(forms(secret));
        state.secrets.sort_by_key(|form| std::cmp::Reverse(form.len()));
        state.secrets.dedup();
    }

    /// A text without the secrets: for the header, whose command line has some.
    pub fn masked(&self, text: &str) -> String {
        self.state().secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
    }

    /// Takes down that this happens now. After [`What::End`] nothing happens any more.
    pub fn record(&self, what: What) {
        let what = self.without_secrets(what);
        let mut state = self.state();
        if state.ended {
            return;
        }
        let (at, real_us) = (self.shared.now)();
        state.ended = what == What::End;
        state.push(Event { at, real_us, what });
        let count = state.events.len();
        drop(state);
        self.shared.count.send_if_modified(|known| {
            let more = count > *known;
            *known = count.max(*known);
            more
        });
    }

    /// Takes nothing down any more: what ends from now on does so because the run is given up, which proves nothing.
    pub fn close(&self) {
        self.state().ended = true;
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Arc<Event>> {
        self.state().events.clone()
    }

    /// All events so far, and then each as it is recorded.
    pub fn follow(&self) -> Follower {
        Follower { shared: Arc::clone(&self.shared), count: self.shared.count.subscribe(), next: 0 }
    }

    /// What has been recorded, as a value.
    pub fn history(&self, header: Header) -> History {
        let state = self.state();
        let events: Vec<Event> = state.events.iter().map(|event| Event::clone(event)).collect();
        let cut_short = state.lost.clone().or_else(|| file::cut_short(&events));
        History { header, events, cut_short }
    }

    /// The event with its secrets masked. They are looked for in its text, where all of it stands in one form.
    fn without_secrets(&self, what: What) -> What {
        let secrets = self.state().secrets.clone();
        if secrets.is_empty() {
            return what;
        }
        let text = match serde_json::to_string(&what) {
            Ok(text) => text,
            Err(error) => return What::Trouble(format!("an event cannot be written: {error}")),
        };
        if !secrets.iter().any(|secret| text.contains(secret)) {
            return what;
        }
        let masked = secrets.iter().fold(text, |text, secret| text.replace(secret, MASK));
        serde_json::from_str(&masked).unwrap_or_else(|_| {
            What::Trouble("an event cannot be told, because a secret is part of its grammar".to_owned())
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves whole events behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, event: Event) {
        let written = self.file.as_mut().map_or(Ok(()), |file| {
            let line = file::line(&event)?;
            file.write_all(&line).map_err(HistoryError::Write)
        });
        if let Err(error) = written {
            // Whatever follows would follow a torn line.
            self.file = None;
            self.lost = Some(format!("failed to {error}"));
        }
        self.events.push(Arc::new(event));
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("events", &self.state().events.len()).finish_non_exhaustive()
    }
}

/// Tells a history from its first event on. Each follower goes at its own pace and misses nothing.
pub struct Follower {
    shared: Arc<Shared>,
    count: watch::Receiver<usize>,
    next: usize,
}

impl Follower {
    /// The next event and its number; waits for it if need be, and gives nothing after the end.
    pub async fn next(&mut self) -> Option<(usize, Arc<Event>)> {
        if let Some(told) = self.try_next() {
            return Some(told);
        }
        if self.shared.state().ended {
            return None;
        }
        let next = self.next;
        // The sender lives as long as this does.
        let _ = self.count.wait_for(|count| *count > next).await;
        self.try_next()
    }

    /// The same, but nothing if there is none yet.
    pub fn try_next(&mut self) -> Option<(usize, Arc<Event>)> {
        let event = Arc::clone(self.shared.state().events.get(self.next)?);
        let number = self.next;
        self.next += 1;
        Some((number, event))
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("next", &self.next).finish_non_exhaustive()
    }
}

/// How a secret can stand in JSON: itself, and what base64 makes of it at each of the three places it can begin at.
fn forms(secret: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(secret).to_string();
    let mut forms = vec![quoted[1..quoted.len() - 1].to_owned()];
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(secret.as_bytes());
        let text = STANDARD_NO_PAD.encode(&bytes);
        // Letters at either end that are also made of what stands around the secret.
        let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        forms.push(text[first..last].to_owned());
    }
    forms
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::{LogEvent, Phase};
    use super::*;

    fn ticking() -> impl Fn() -> (Time, u64) + Send + Sync {
        let ticks = AtomicU64::new(0);
        move || {
            let tick = ticks.fetch_add(1, Ordering::Relaxed);
            (Time::from_unix_nanos(tick), tick)
        }
    }

    fn log(line: &str) -> What {
        What::Log(LogEvent { replica: 0, line: line.to_owned() })
    }

    #[test]
    fn many_threads_record_in_the_order_of_time() {
        let recorder = Recorder::in_memory(ticking());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|_| recorder.record(log("x"))));
            }
        });
        let events = recorder.events();
        assert_eq!(events.len(), 800);
        assert!(events.is_sorted_by_key(|event| event.at));
    }

    #[test]
    fn secrets_are_masked_in_every_form() {
        let recorder = Recorder::in_memory(ticking());
        let secret = "s3cr\"t/väl";
        recorder.hide(secret);
        recorder.hide("x");
        for before in 0..4 {
            let text = format!("{}{secret} after, x", "a".repeat(before));
            recorder.record(log(&text));
            recorder.record(log(&base64::engine::general_purpose::STANDARD.encode(&text)));
        }
        for event in recorder.events() {
            let What::Log(LogEvent { line, .. }) = &event.what else { panic!("{event:?}") };
            assert!(line.contains(MASK) && !line.contains("s3cr"), "{line}");
        }
    }

    #[test]
    fn a_secret_that_is_a_word_of_ours_leaves_a_trouble() {
        let recorder = Recorder::in_memory(ticking());
        recorder.hide("replica");
        recorder.record(log("x"));
        assert!(matches!(&recorder.events()[0].what, What::Trouble(_)));
    }

    #[test]
    fn nothing_happens_after_the_end() {
        let recorder = Recorder::in_memory(ticking());
        for what in [What::Phase(Phase::Account), What::End, log("late")] {
            recorder.record(what);
        }
        assert_eq!(recorder.events().len(), 2);
    }

    #[test]
    fn a_closed_one_takes_nothing_down_and_its_history_is_not_whole() {
        let recorder = Recorder::in_memory(ticking());
        recorder.record(log("before"));
        recorder.close();
        recorder.record(What::End);
        assert_eq!(recorder.events().len(), 1);
    }

    #[tokio::test]
    async fn a_follower_hears_all_of_it() {
        let recorder = Recorder::in_memory(ticking());
        recorder.record(log("before"));
        let mut follower = recorder.follow();
        let heard = tokio::spawn(async move {
            let mut heard = Vec::new();
            while let Some((number, event)) = follower.next().await {
                assert_eq!(number, heard.len());
                heard.push(event);
            }
            heard
        });
        for _ in 0..100 {
            recorder.record(log("x"));
            tokio::task::yield_now().await;
        }
        recorder.record(What::End);
        assert_eq!(heard.await.unwrap(), recorder.events());
    }
}
