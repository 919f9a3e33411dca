//! Where controllers are tested: an API on a clock moved by hand, and controllers that take turns until all is quiet.

use std::time::Duration;

use mock_clock::{Hand, Time, VirtualClock};

use super::frame::{Controller, Course};
use crate::api::Api;

/// More turns than any test takes: controllers that go on against each other are found out.
const TURNS: usize = 100_000;

pub(super) struct Stage {
    pub(super) api: Api,
    hand: Hand,
    actors: Vec<Box<dyn Actor>>,
}

trait Actor {
    fn step(&mut self, api: &Api) -> bool;
    fn due(&self) -> Option<Time>;
}

impl<C: Controller> Actor for Course<'static, C> {
    fn step(&mut self, api: &Api) -> bool {
        Course::step(self, api).expect("no test writes more than the log keeps")
    }

    fn due(&self) -> Option<Time> {
        Course::due(self)
    }
}

impl Stage {
    pub(super) fn new() -> Self {
        let (clock, hand) = VirtualClock::manual("2030-01-01T00:00:00Z".parse::<Time>().unwrap());
        let api = Api::new(clock, 1);
        crate::birth::furnish(&api).unwrap();
        Self { api, hand, actors: Vec::new() }
    }

    /// One controller more.
    pub(super) fn with<C: Controller + 'static>(mut self, shelves: &[&'static str], controller: C) -> Self {
        self.actors.push(Box::new(Course::begin(&self.api, "tested", shelves, controller)));
        self
    }

    /// Everybody works until nothing is due at this moment.
    pub(super) fn settle(&mut self) {
        for _ in 0..TURNS {
            let mut worked = false;
            for actor in &mut self.actors {
                worked |= actor.step(&self.api);
            }
            if !worked {
                return;
            }
        }
        panic!("the controllers never rest");
    }

    /// Time passes, and everybody does what becomes due on the way.
    pub(super) fn pass(&mut self, seconds: u64) {
        let end = self.api.now() + Duration::from_secs(seconds);
        loop {
            self.settle();
            let due = self.actors.iter().filter_map(|actor| actor.due()).min();
            match due.filter(|due| *due <= end) {
                Some(due) => self.hand.advance_to(due),
                None => break,
            }
        }
        self.hand.advance_to(end);
        self.settle();
    }
}
