//! SD-02. No removal is decided within the delay after an order that the cloud took and whose server is
//! still there, by the process that placed it. The delay is counted from the loop in which it was placed, so one loop is granted.
//!
//! The subject is the process that placed the order, for all pools. Each order is judged for the whole of its delay. Excused is
//! an order whose server does not stay, and another process.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  POST /servers for pool small: server 9
//! 60 s  node big-a, long empty, is tainted
//! 68 s  DELETE /servers/7
//! ```
//!
//! It does not catch removals decided just before the order.

use mock_clock::Time;

use crate::check::scene::{TIE, timed};
use crate::check::vacancy::vacancies;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Order;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-02"),
    promise: "Nothing is removed for the documented time after a scale-up",
    cite: &[
        faq!(
            "I have a couple of nodes with low utilization, but they are not scaled down. Why?",
            "i-have-a-couple-of-nodes-with-low-utilization-but-they-are-not-scaled-down-why"
        ),
        flag!("--scale-down-delay-after-add"),
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::DelayAfterAdd, Timer::ScanInterval], |scene, [delay, scan]| {
        let mut tally = Tally::default();
        let good = |order: &&Order| {
            let alive = |at: Time| {
                scene
                    .server_of(order)
                    .is_some_and(|id| scene.servers.get(&id).is_some_and(|t| t.at(at).is_some()))
            };
            order.taken() && alive(order.began + delay - TIE)
        };
        let vacant = vacancies(scene, true);
        for order in scene.orders.iter().filter(good) {
            let until = order.began + delay;
            let mut early = scene.removals().filter(|(back, _, _)| {
                let decided = scene.decided(back);
                decided > order.began + TIE * 2
                    && decided + scan + TIE < until
                    && scene.same(order.replica, order.began, decided)
            });
            if let Some((back, name, _)) = early.next() {
                let after = (scene.decided(back) - order.began).as_secs();
                let says = format!(
                    "the removal of {name} was decided {after} s after {} had been ordered",
                    order.name
                );
                tally.violated(says, [order.event, back.event]);
            }
            if scene.watched(order.began, until)
                && vacant.iter().any(|vacancy| vacancy.spell.touches(order.began, until))
            {
                tally.exercised();
            }
        }
        tally.verdict("no node had nothing on it after something had been ordered")
    })
}
