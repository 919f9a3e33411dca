//! Peers and owners that die or are stopped in the middle of it: the others go on.

use std::process::Command;
use std::time::Duration;

use mock_clock::{Clock, PAGE_VARIABLE, VirtualClock};

use crate::peer::Peer;

const TEN_MINUTES: Duration = Duration::from_secs(600);

/// It is killed while it holds a guard and owes a wake-up: nothing else would ever let time jump again.
pub(crate) fn a_killed_peer_does_not_hang_the_clock() {
    let clock = VirtualClock::idle_skip().unwrap();
    let mut peer = Peer::joining(&clock, "hold");
    assert_eq!(peer.line(), "holding");
    wait_until_held(&clock, peer.child.id());
    peer.child.kill().unwrap();
    clock.sleep(TEN_MINUTES).wait();
    assert!(!clock.status().to_string().contains("taking part"), "{}", clock.status());
}

/// A guard that a peer holds keeps a constant rate down, until the peer is gone.
pub(crate) fn a_killed_peer_does_not_hold_the_rate_down() {
    let clock = VirtualClock::start("60".parse().unwrap(), None).unwrap();
    let mut peer = Peer::joining(&clock, "hold");
    assert_eq!(peer.line(), "holding");
    wait_for(&clock, "at a constant rate, rate 1.00");
    peer.child.kill().unwrap();
    wait_for(&clock, "at a constant rate, rate 60.00");
}

fn wait_for(clock: &VirtualClock, told: &str) {
    for _ in 0..10_000 {
        if clock.status().to_string().contains(told) {
            return;
        }
        pause();
    }
    panic!("never {told}:\n{}", clock.status());
}

pub(crate) fn a_stopped_peer_does_not_hang_the_clock() {
    let clock = VirtualClock::idle_skip().unwrap();
    let mut peer = Peer::joining(&clock, "hold");
    assert_eq!(peer.line(), "holding");
    signal("-STOP", peer.child.id());
    clock.sleep(TEN_MINUTES).wait();
    let takes_part = format!("taking part: processes {{{}}}", peer.child.id());
    assert!(clock.status().to_string().contains(&takes_part), "{}", clock.status());
}

/// Waits, in real time, until the clock says that it is this process that holds it.
fn wait_until_held(clock: &VirtualClock, pid: u32) {
    let _awaited = std::thread::spawn({
        let clock = clock.clone();
        move || clock.sleep(TEN_MINUTES).wait()
    });
    wait_for(clock, &format!("not jumping: guards held by process {pid}: 1"));
}

pub(crate) fn hold_as_peer() {
    let clock = VirtualClock::join().unwrap();
    let _busy = clock.busy();
    println!("holding");
    loop {
        clock.sleep(Duration::from_secs(1)).wait();
    }
}

/// The owner is a peer here, and this test starts its peer for it. Killed at any moment, even in mid-write,
/// it leaves a clock that goes on.
pub(crate) fn a_killed_owner_does_not_hang_its_peers() {
    for _ in 0..10 {
        let mut owner = Peer::apart("own");
        let place = owner.line();
        let exe = std::env::current_exe().unwrap();
        let mut ticking = Command::new(exe);
        ticking.env(crate::peer::ROLE, "tick").env(PAGE_VARIABLE, place);
        ticking.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut ticking = Peer::start(&mut ticking);
        assert_eq!(ticking.line(), "joined");
        owner.child.kill().unwrap();
        owner.child.wait().unwrap();
        ticking.tell("go on");
        assert_eq!(ticking.line(), "ticked");
    }
}

/// Bends the line all the time, so that a kill is likely to hit a write.
pub(crate) fn own_as_peer() {
    let clock = VirtualClock::start("1".parse().unwrap(), None).unwrap();
    println!("{}", clock.environment().unwrap().1.display());
    loop {
        for rate in ["1.5", "1"] {
            clock.set_rate(rate.parse().unwrap()).unwrap();
        }
    }
}

pub(crate) fn tick_as_peer() {
    let clock = VirtualClock::join().unwrap();
    clock.sleep(Duration::from_millis(1)).wait();
    println!("joined");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let before = clock.now();
    clock.sleep(Duration::from_millis(20)).wait();
    assert!(clock.now() > before);
    println!("ticked");
}

fn signal(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[expect(clippy::disallowed_methods, reason = "looks at a clock from outside, in real time")]
fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}
