//! FT-20. While lists of the cloud lack what is there, show it twice or lag behind, no order is one too many for the pods that
//! wait, none brings a pool above its maximum, and pods do not wait longer than the reaction time. What a subject has ordered
//! itself it can know without a list. The subjects of the promise are the single order and the single pod that waits, which is
//! judged again as long as it waits. The rest is as in SU-01, SU-02 and MM-01, for the time in which a list misleads and as long
//! as it may be believed.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  lists show servers after a minute; pod web-1 is unschedulable
//!  10 s  POST /servers for pool small: server 7
//!  20 s  POST /servers for pool small: server 8
//! ```
//!
//! It does not catch servers of others that no list has shown.

use crate::check::causes::{first_attempts, not_one_too_many};
use crate::check::maximum::above;
use crate::check::reaction::reactions_while_misled;
use crate::check::scene::timed;
use crate::check::{BUYERS_OF_SERVERS, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-20"),
    promise: "Lists of the cloud that lack, repeat or lag behind for a while cost no order too many, and keep none away",
    cite: &[
        faq!("How does scale-up work?", "how-does-scale-up-work"),
        flag!("--nodes"),
        karpenter!("NodeClaims", "concepts/nodeclaims"),
    ],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: BUYERS_OF_SERVERS,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime, Timer::ProvisionTime], |scene, [reaction, provision]| {
        let mut tally = reactions_while_misled(scene, reaction);
        for order in first_attempts(scene).filter(|order| order.taken()) {
            let pool = order.pool.as_deref().and_then(|pool| scene.pool(pool));
            let Some(pool) = pool.filter(|_| scene.misled(order.began, order.began)) else { continue };
            above(scene, &mut tally, order);
            not_one_too_many(scene, &mut tally, order, pool, provision);
        }
        tally.verdict("nothing was ordered, or was to be, while lists misled")
    })
}
