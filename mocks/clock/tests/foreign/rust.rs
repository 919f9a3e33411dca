//! Foreign programs in Rust: they wait in real time, as they think, with std and with tokio.

#![expect(clippy::disallowed_methods, reason = "plays a program that knows of no clock but the machine's")]

use std::sync::{Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use mock_clock::{Clock, Mode, VirtualClock};

use crate::playing::{Playing, idle_skip};
use crate::roles::role;
use crate::{Test, test};

pub(crate) const TESTS: &[Test] = &[
    test("rust::waits_of_std", || played("std")),
    test("rust::waits_of_tokio", || played("tokio")),
    test("rust::who_asks_the_kernel_for_the_vdso", || played("kernel")),
];

const TEN_MINUTES: Duration = Duration::from_secs(600);
const SECOND: Duration = Duration::from_secs(1);

fn played(name: &str) {
    let clock = idle_skip();
    Playing::start(&clock, role(name)).end().is_right(&clock);
}

/// It has lasted so long, on both clocks.
struct Lasting(&'static str, Instant, SystemTime);

impl Lasting {
    fn now(what: &'static str) -> Lasting {
        Lasting(what, Instant::now(), SystemTime::now())
    }

    fn lasted(self, span: Duration) {
        let Lasting(what, monotonic, wall) = self;
        for took in [monotonic.elapsed(), wall.elapsed().unwrap()] {
            // The two are not read at the same moment.
            assert!(took + SECOND / 1000 >= span && took < span + SECOND, "{what} took {took:?} of {span:?}");
        }
        println!("ok {what}");
    }
}

pub(crate) fn wait_with_std() {
    let lasting = Lasting::now("thread::sleep");
    thread::sleep(TEN_MINUTES);
    lasting.lasted(TEN_MINUTES);

    let lasting = Lasting::now("thread::park_timeout");
    thread::park_timeout(TEN_MINUTES);
    lasting.lasted(TEN_MINUTES);

    let lasting = Lasting::now("Condvar::wait_timeout");
    let (mutex, condition) = (Mutex::new(()), Condvar::new());
    let waited = condition.wait_timeout_while(mutex.lock().unwrap(), TEN_MINUTES, |()| true).unwrap();
    assert!(waited.1.timed_out());
    lasting.lasted(TEN_MINUTES);

    let lasting = Lasting::now("Receiver::recv_timeout");
    let (sender, receiver) = mpsc::channel::<()>();
    assert_eq!(receiver.recv_timeout(TEN_MINUTES), Err(mpsc::RecvTimeoutError::Timeout));
    lasting.lasted(TEN_MINUTES);

    let lasting = Lasting::now("Receiver::recv_timeout, with a message before it");
    let sending = thread::spawn(move || {
        thread::sleep(5 * SECOND);
        sender.send(()).unwrap();
    });
    assert_eq!(receiver.recv_timeout(TEN_MINUTES), Ok(()));
    lasting.lasted(5 * SECOND);
    sending.join().unwrap();
}

/// The clock of this crate reads the machine's through a library that finds the vDSO without its stack.
pub(crate) fn ask_the_kernel() {
    let machine = VirtualClock::start(Mode::Real, None).unwrap();
    let lasting = Lasting::now("thread::sleep");
    let began = machine.now();
    thread::sleep(TEN_MINUTES);
    let took = machine.now() - began;
    lasting.lasted(TEN_MINUTES);
    assert!(took >= TEN_MINUTES && took < TEN_MINUTES + SECOND, "by the kernel's vDSO it took {took:?}");
}

pub(crate) fn wait_with_tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let lasting = Lasting::now("tokio's sleep");
        tokio::time::sleep(TEN_MINUTES).await;
        lasting.lasted(TEN_MINUTES);

        let lasting = Lasting::now("tokio's interval");
        let mut ticks = tokio::time::interval(10 * SECOND);
        for _ in 0..361 {
            ticks.tick().await;
        }
        lasting.lasted(3600 * SECOND);

        let lasting = Lasting::now("tokio's timeout");
        tokio::time::timeout(TEN_MINUTES, std::future::pending::<()>()).await.unwrap_err();
        lasting.lasted(TEN_MINUTES);

        let lasting = Lasting::now("500 sleeps of tokio");
        let sleeps = (1..=500).map(|i| tokio::spawn(tokio::time::sleep(SECOND * (i % 60) + SECOND)));
        for sleep in sleeps.collect::<Vec<_>>() {
            sleep.await.unwrap();
        }
        lasting.lasted(60 * SECOND);
    });
}
