//! The clock of a run: made by one process, joined by others, handed to everybody who needs time.

use std::fmt;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Clock;
use crate::coordinator::{self, Coordinator};
use crate::core::{Core, Kind};
use crate::keeper::{FollowedLine, OwnLine};
use crate::lag::Lag;
use crate::line::Line;
use crate::machine;
use crate::mode::{IdleSkip, Mode};
use crate::page::{Page, PageError};
use crate::rate::Rate;
use crate::sleep::Sleep;
use crate::status::Status;
use crate::time::Time;
use crate::timers::Timers;
use crate::wall::WallOffset;

/// The environment variable by which a process finds the page of the run it belongs to.
pub const PAGE_VARIABLE: &str = "MOCK_CLOCK_PAGE";

/// A handle on the clock of a run. Clones are cheap and tell the same time; the last one ends its threads.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    core: Arc<Core>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.close();
    }
}

impl VirtualClock {
    /// A clock that skips idle time, starting at the machine's date.
    pub fn idle_skip() -> Result<Self, ClockError> {
        Self::start(Mode::IdleSkip(IdleSkip::default()), None)
    }

    /// A clock that moves as `mode` says. Without a date it starts at the machine's.
    ///
    /// ```
    /// use mock_clock::{Clock, Mode, VirtualClock};
    ///
    /// let clock = VirtualClock::start(Mode::default(), Some("2038-01-19T03:14:07Z".parse()?))?;
    /// assert!(clock.now().to_string().starts_with("2038-01-19T03:14:07"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(mode: Mode, date: Option<Time>) -> Result<Self, ClockError> {
        if let (Mode::Real, Some(date)) = (mode, date) {
            return Err(ClockError::DateOfRealTime(date));
        }
        let own = |rate: Rate| {
            let real = machine::monotonic();
            own_line(Line::new(real, real, rate), rate, date)
        };
        match mode {
            Mode::IdleSkip(settings) => {
                let coordinator = Coordinator::new(settings).map_err(ClockError::Blind)?;
                let (own, wall) = own(Rate::ONE)?;
                let clock = Self::new(Kind::IdleSkip(own, Mutex::new(Rate::ONE)), wall, Timers::default());
                coordinator::start(coordinator, Arc::clone(clock.core())).map_err(ClockError::Start)?;
                Ok(clock)
            }
            Mode::Constant(rate) => {
                if let Some(warning) = rate.warning() {
                    tracing::warn!("{warning}");
                }
                let (own, wall) = own(rate)?;
                Ok(Self::new(Kind::Constant(own, Mutex::new(rate)), wall, Timers::default()))
            }
            Mode::Real => {
                let (own, wall) = own(Rate::ONE)?;
                Ok(Self::new(Kind::Real(own), wall, Timers::default()))
            }
        }
    }

    /// A clock for unit tests, which stands still until its hand moves it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use mock_clock::{Clock, Time, VirtualClock};
    ///
    /// let (clock, hand) = VirtualClock::manual(Time::EPOCH);
    /// let sleep = clock.sleep(Duration::from_secs(600));
    /// hand.advance(Duration::from_secs(599));
    /// assert!(!sleep.is_elapsed());
    /// hand.advance(Duration::from_secs(1));
    /// assert!(sleep.is_elapsed());
    /// ```
    ///
    /// # Panics
    /// If the machine cannot give it a file in memory, or `start` is after the year 2400.
    pub fn manual(start: Time) -> (Self, Hand) {
        let real = machine::monotonic();
        let (own, wall) = own_line(Line::still(real, real), Rate::ONE, Some(start))
            .expect("a unit test has memory for a page and a date before 2400");
        let clock = Self::new(Kind::Manual(own), wall, Timers::default());
        (clock.clone(), Hand { clock })
    }

    /// Joins the clock of the run that started this process, named by [`PAGE_VARIABLE`].
    pub fn join() -> Result<Self, ClockError> {
        let place = std::env::var_os(PAGE_VARIABLE).ok_or(ClockError::NotInARun)?;
        Self::join_at(Path::new(&place))
    }

    /// Joins the clock whose page is at `place`.
    pub fn join_at(place: &Path) -> Result<Self, ClockError> {
        let (page, header) =
            Page::open(place).map_err(|why| ClockError::Join { place: place.to_owned(), why: Why(why) })?;
        let page = Arc::new(page);
        // Without a slot the clock is right too: the coordinator sees that there was none, and jumps no more.
        let slot = page.take_slot(std::process::id()).map_err(ClockError::Start)?;
        let wall = WallOffset::from_word(header.wall_offset);
        let line = FollowedLine::new(page, &header);
        Ok(Self::new(Kind::Joined(line), wall, Timers::published_in(slot)))
    }

    fn new(kind: Kind, wall: WallOffset, timers: Timers) -> Self {
        Self { handle: Arc::new(Handle { core: Core::new(kind, wall, timers) }) }
    }

    /// Keeps time from jumping while the guard lives: something is in flight that no thread shows.
    ///
    /// A request whose answer is being prepared, a child that is not in the run, a wait in real time: whatever
    /// can be unfinished while every thread sleeps. At a constant rate, time passes one for one meanwhile, if the
    /// guard is held by the process that made the clock.
    ///
    /// ```
    /// # use mock_clock::VirtualClock;
    /// # let clock = VirtualClock::idle_skip()?;
    /// let _busy = clock.busy();
    /// assert!(clock.status().to_string().contains("1 guard"));
    /// # Ok::<(), mock_clock::ClockError>(())
    /// ```
    #[track_caller]
    #[must_use = "dropping the guard at once guards nothing"]
    pub fn busy(&self) -> Busy {
        let number = self.core().take_guard(Location::caller());
        Busy { clock: self.clone(), number }
    }

    /// Another rate from now on; between jumps, where time jumps. Only the process that made the clock may say so.
    pub fn set_rate(&self, rate: Rate) -> Result<(), ClockError> {
        if let Some(warning) = rate.warning() {
            tracing::warn!("{warning}");
        }
        if self.core().set_rate(rate) { Ok(()) } else { Err(ClockError::NoRate(self.core().kind.name())) }
    }

    /// What to put into a child's environment so that it can join: [`PAGE_VARIABLE`] and its value.
    ///
    /// A process that itself joined hands on nothing: its children inherit the variable.
    pub fn environment(&self) -> Option<(&'static str, PathBuf)> {
        let own = self.core().own()?;
        Some((PAGE_VARIABLE, own.page().place().to_owned()))
    }

    /// Counts a process in from now on: time does not jump while one of its threads runs.
    ///
    /// Call it right after spawning a child that will join; until the child has done so it would be jumped over.
    /// It also serves for a child that never joins, as long as that child waits for no time.
    pub fn track(&self, pid: u32) -> Result<(), ClockError> {
        let own = self.core().own().ok_or(ClockError::NoRate(self.core().kind.name()))?;
        own.page().enrol(pid).map(drop).map_err(ClockError::Start)
    }

    /// How late the clock itself has been, in this process.
    pub fn lag(&self) -> Lag {
        self.core().lag.read()
    }

    /// What the clock is doing, and why it is not jumping.
    pub fn status(&self) -> Status {
        Status::of(self.core())
    }

    /// Real time since this process made or joined the clock.
    pub fn real_elapsed(&self) -> Duration {
        Duration::from_nanos(machine::monotonic() - self.core().began.0)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }

    pub(crate) fn time(&self) -> Time {
        self.core().now()
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        self.time()
    }

    #[track_caller]
    fn sleep_until(&self, deadline: Time) -> Sleep {
        Sleep::new(self.clone(), deadline, Location::caller())
    }
}

fn own_line(line: Line, rate: Rate, date: Option<Time>) -> Result<(OwnLine, WallOffset), ClockError> {
    let start = date.unwrap_or_else(|| Time::from_unix_nanos(machine::wall()));
    if start > WallOffset::START_MAX {
        return Err(ClockError::StartTooLate(start));
    }
    let wall = WallOffset::new(start, line.virt0);
    let own = OwnLine::new(line, rate, wall.word()).map_err(ClockError::Start)?;
    Ok((own, wall))
}

/// Moves a manual clock.
#[derive(Debug)]
pub struct Hand {
    clock: VirtualClock,
}

impl Hand {
    /// Moves time on by `span`, and wakes everybody due on the way, each at his own moment.
    pub fn advance(&self, span: Duration) {
        self.advance_to(self.clock.now() + span);
    }

    /// Moves time on to `target`; to the past it does not move.
    pub fn advance_to(&self, target: Time) {
        let core = self.clock.core();
        let own = core.own().expect("a manual clock is its maker's own");
        let target = core.wall.monotonic(target);
        while let Some((deadline, _)) = core.timers.next().filter(|(deadline, _)| *deadline <= target) {
            own.jump(deadline);
            core.fire(own.read().0);
        }
        own.jump(target);
    }
}

/// Keeps time from jumping while it lives. See [`VirtualClock::busy`].
#[derive(Debug)]
pub struct Busy {
    clock: VirtualClock,
    number: u64,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.clock.core().release_guard(self.number);
    }
}

/// Why there is no clock, or why it does not do as it is told. Reads after "failed to".
#[derive(Debug)]
pub enum ClockError {
    /// A date was given for real time.
    DateOfRealTime(Time),
    /// A start that leaves no room for a run.
    StartTooLate(Time),
    /// The kernel does not show what idle-skip must see.
    Blind(io::Error),
    /// No file in memory, no thread, or no lock on the page.
    Start(io::Error),
    /// No page is named in the environment.
    NotInARun,
    /// The page that is named cannot be used.
    Join {
        /// Where it should be.
        place: PathBuf,
        /// What is wrong with it.
        why: Why,
    },
    /// Only the maker of a clock that moves by a rate can say so.
    NoRate(&'static str),
}

/// What is wrong with a page.
#[derive(Debug)]
pub struct Why(PageError);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClockError::DateOfRealTime(date) => {
                write!(
                    f,
                    "start real time at {date}: real time has the machine's date; use idle-skip or a rate"
                )
            }
            ClockError::StartTooLate(date) => {
                write!(f, "start at {date}: the latest start is {}", WallOffset::START_MAX)
            }
            ClockError::Blind(e) => write!(
                f,
                "skip idle time: this machine does not let us see when everybody is idle ({e}); use a constant rate, or real time"
            ),
            ClockError::Start(e) => write!(f, "set up the clock: {e}"),
            ClockError::NotInARun => {
                write!(
                    f,
                    "join a run's clock: {PAGE_VARIABLE} is not set, so no run has started this process"
                )
            }
            ClockError::Join { place, why } => write!(
                f,
                "join a run's clock at {}: {why}; does the run named by {PAGE_VARIABLE} still live?",
                place.display()
            ),
            ClockError::NoRate(kind) => write!(f, "move this clock: it is {kind}"),
        }
    }
}

impl std::error::Error for ClockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ClockError::Blind(e) | ClockError::Start(e) => Some(e),
            _ => None,
        }
    }
}
