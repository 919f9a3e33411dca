//! The clock of a run: made by one process, joined by others, handed to everybody who needs time.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::coordinator::{self, Coordinator};
use crate::error::ClockError;
use crate::inject::{Foreign, SpawnError};
use crate::keeper::{FollowedLine, Keeper, OwnLine};
use crate::lag::Lag;
use crate::line::Line;
use crate::machine;
use crate::mode::{IdleSkip, Mode};
use crate::page::Page;
use crate::rate::Rate;
use crate::shared::{Mover, Shared};
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
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
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
        // Before anything else: where idle-skip cannot see, there is nothing to undo.
        let coordinator = match mode {
            Mode::IdleSkip(settings) => {
                settings.check().map_err(ClockError::Settings)?;
                Some(Coordinator::new(settings).map_err(ClockError::Blind)?)
            }
            Mode::Constant(_) | Mode::Real => None,
        };
        let (mover, rate) = match mode {
            Mode::IdleSkip(_) => (Mover::Coordinator, Rate::ONE),
            Mode::Constant(rate) => (Mover::Rate, rate),
            Mode::Real => (Mover::Machine, Rate::ONE),
        };
        warn_of(rate);
        let real = machine::monotonic();
        let clock = Self::own(Line::new(real, real, rate), mover, rate, date)?;
        if let Some(coordinator) = coordinator {
            coordinator::start(coordinator, Arc::clone(clock.shared())).map_err(ClockError::Start)?;
        }
        Ok(clock)
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
        let clock = Self::own(Line::still(real, real), Mover::Hand, Rate::ONE, Some(start))
            .expect("a unit test has memory for a page and a date before 2400");
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
            Page::open(place).map_err(|why| ClockError::Join { place: place.to_owned(), why })?;
        let page = Arc::new(page);
        // Without a slot the clock is right too: the coordinator sees that there was none, and jumps no more.
        let slot = page.take_slot(std::process::id()).map_err(ClockError::Start)?;
        let wall = WallOffset::from_word(header.wall_offset);
        let line = Keeper::Followed(FollowedLine::new(page, &header));
        Ok(Self::of(Shared::new(line, Mover::Owner, Rate::ONE, wall, Timers::published_in(slot))))
    }

    fn own(line: Line, mover: Mover, rate: Rate, date: Option<Time>) -> Result<Self, ClockError> {
        let start = date.unwrap_or_else(|| Time::from_unix_nanos(machine::wall()));
        if start > WallOffset::START_MAX {
            return Err(ClockError::StartTooLate(start));
        }
        let wall = WallOffset::new(start, line.virt0);
        let own = OwnLine::new(line, rate, wall.word()).map_err(ClockError::Start)?;
        Ok(Self::of(Shared::new(Keeper::Own(own), mover, rate, wall, Timers::default())))
    }

    fn of(shared: Arc<Shared>) -> Self {
        Self { handle: Arc::new(Handle { shared }) }
    }

    /// Keeps time from jumping while the guard lives: something is in flight that no thread shows.
    ///
    /// A request whose answer is being prepared, a child that is not in the run, a wait in real time: whatever
    /// can be unfinished while every thread sleeps. At a constant rate, time passes one for one meanwhile, from the
    /// next real millisecond on if another process than the clock's maker holds it.
    ///
    /// ```
    /// # use mock_clock::VirtualClock;
    /// # let clock = VirtualClock::idle_skip()?;
    /// let _busy = clock.busy();
    /// assert!(clock.status().to_string().contains("guards held here: 1"));
    /// # Ok::<(), mock_clock::ClockError>(())
    /// ```
    #[track_caller]
    #[must_use = "dropping the guard at once guards nothing"]
    pub fn busy(&self) -> Busy {
        let number = self.shared().take_guard(Location::caller());
        Busy { clock: self.clone(), number }
    }

    /// Sets the rate from now on; on a clock that skips idle time, the rate between jumps. Only the process that made
    /// the clock can.
    pub fn set_rate(&self, rate: Rate) -> Result<(), ClockError> {
        warn_of(rate);
        if self.shared().set_rate(rate) {
            Ok(())
        } else {
            Err(ClockError::NoRate(self.shared().mover.to_string()))
        }
    }

    /// What to put into a child's environment so that it can join: [`PAGE_VARIABLE`] and its value.
    ///
    /// A process that itself joined hands on nothing: its children inherit the variable.
    pub fn environment(&self) -> Option<(&'static str, PathBuf)> {
        let own = self.shared().own()?;
        self.shared().ensure_governor();
        Some((PAGE_VARIABLE, own.page().place().to_owned()))
    }

    /// Counts a process in from now on: time does not jump while one of its threads runs.
    ///
    /// Call it right after spawning a child that will join; until the child has done so it would be jumped over.
    /// It also serves for a child that never joins, as long as that child waits for no time. Hold a guard over the
    /// spawning and this, so that time cannot jump in between.
    pub fn track(&self, pid: u32) -> Result<(), ClockError> {
        let own = self.shared().own().ok_or(ClockError::TrackFromOutside(pid))?;
        self.shared().ensure_governor();
        let enrolled = own.page().enrol(pid).map_err(ClockError::Start)?;
        if enrolled { Ok(()) } else { Err(ClockError::TableFull(pid)) }
    }

    /// Starts a foreign program on this clock: it sees virtual time, and what it waits for is known here.
    ///
    /// So do the programs that it starts. Nothing of the program is changed, and nothing traces it while it runs; see
    /// the README for what stays real. On a clock in real time it is just started.
    pub fn spawn(&self, command: Command) -> Result<Foreign, SpawnError> {
        if self.shared().own().is_none() {
            return Err(SpawnError::FromOutside(command.get_program().display().to_string()));
        }
        self.shared().door.spawn(self, command)
    }

    /// How late the clock itself has been, in this process.
    pub fn lag(&self) -> Lag {
        self.shared().lag.read()
    }

    /// What the clock is doing, and why it is not jumping.
    pub fn status(&self) -> Status {
        Status::of(self.shared())
    }

    /// Real time since this process made or joined the clock.
    pub fn real_elapsed(&self) -> Duration {
        Duration::from_nanos(machine::monotonic() - self.shared().began.0)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        self.shared().now()
    }

    #[track_caller]
    fn sleep_until(&self, deadline: Time) -> Sleep {
        Sleep::new(self.clone(), deadline, Location::caller())
    }
}

fn warn_of(rate: Rate) {
    if let Some(warning) = rate.warning() {
        tracing::warn!("{warning}");
    }
}

/// Moves a manual clock.
#[derive(Debug)]
pub struct Hand {
    clock: VirtualClock,
}

impl Hand {
    /// Moves time on by `span`, and wakes everybody due on the way, each at its own deadline.
    pub fn advance(&self, span: Duration) {
        self.advance_to(self.clock.now() + span);
    }

    /// Moves time on to `target`; to the past it does not move.
    pub fn advance_to(&self, target: Time) {
        let shared = self.clock.shared();
        let own = shared.own().expect("a manual clock is its maker's own");
        let target = shared.wall.monotonic(target);
        while let Some((deadline, _)) = shared.timers.next().filter(|(deadline, _)| *deadline <= target) {
            own.jump(deadline);
            shared.fire(own.read().0);
        }
        own.jump(target);
        // Whoever set a timer on the way, too late for the loop.
        shared.fire(own.read().0);
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
        self.clock.shared().release_guard(self.number);
    }
}
