//! Foreign clients of a server in this process, and a foreign program that serves itself.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use mock_clock::{Clock, VirtualClock};

use crate::playing::{Playing, command, idle_skip, play, sixty};
use crate::roles::Spinners;
use crate::{Test, go, programs, test};

pub(crate) const TESTS: &[Test] = &[
    test("serving::a_polled_server", || polled_in_c(&idle_skip(), &PROMPT, 200)),
    test("serving::beside_spinning_processes", || {
        let _spinners = Spinners::start();
        polled_in_c(&idle_skip(), &PROMPT, 200);
    }),
    test("serving::five_thousand_polls_beside_spinning_processes", || {
        let _spinners = Spinners::start();
        polled_in_c(&idle_skip(), &PROMPT, 5000);
    })
    .soak(),
    test("serving::a_slow_server", || polled_in_c(&idle_skip(), &SLOW, 20)),
    test("serving::a_slow_server_at_a_constant_rate", || polled_in_c(&sixty(), &SLOW, 5)),
    go("serving::a_server_polled_in_go", || polled_in_go(&idle_skip(), &PROMPT, 200)),
    go("serving::in_go_beside_spinning_processes", || {
        let _spinners = Spinners::start();
        polled_in_go(&idle_skip(), &PROMPT, 200);
    }),
    go("serving::five_thousand_polls_in_go_beside_spinning_processes", || {
        let _spinners = Spinners::start();
        polled_in_go(&idle_skip(), &PROMPT, 5000);
    })
    .soak(),
    go("serving::a_slow_server_for_go", || polled_in_go(&idle_skip(), &SLOW, 20)),
    go("serving::a_slow_server_for_go_at_a_constant_rate", || polled_in_go(&sixty(), &SLOW, 5)),
    go("serving::http2_and_tls_in_one_process", || encrypted(2)),
    go("serving::http2_and_tls_forty_times", || encrypted(40)).soak(),
];

/// How the server answers, and what its clients bear.
struct Served {
    /// How long an answer takes, in real time.
    takes: Duration,
    /// The longest round trip there may be, in seconds.
    longest: &'static str,
}

const PROMPT: Served = Served { takes: Duration::ZERO, longest: "0.1" };
const SLOW: Served = Served { takes: Duration::from_millis(50), longest: "1" };

fn polled_in_c(clock: &VirtualClock, served: &Served, polls: u32) {
    let port = serve(clock, served).to_string();
    let words = [&port, &polls.to_string(), "10", "1", served.longest];
    Playing::start(clock, command(&programs::c("client"), &words)).end().is_right(clock);
}

fn polled_in_go(clock: &VirtualClock, served: &Served, polls: u32) {
    let port = serve(clock, served).to_string();
    let words = ["client", &port, &polls.to_string(), "10", "1", served.longest];
    Playing::start(clock, command(&programs::go(), &words)).end().is_right(clock);
}

/// Serves one client: each line is answered with the virtual time at which it was read.
fn serve(clock: &VirtualClock, served: &Served) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (clock, takes) = (clock.clone(), served.takes);
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        answer(&clock, stream, takes);
    });
    port
}

fn answer(clock: &VirtualClock, stream: TcpStream, takes: Duration) {
    let mut writing = stream.try_clone().unwrap();
    for _ in BufReader::new(stream).lines().map_while(Result::ok) {
        // An answer that takes no time needs no guard: what is on its way is seen.
        let _busy = (!takes.is_zero()).then(|| clock.busy());
        #[expect(clippy::disallowed_methods, reason = "a server that is slow in real time")]
        std::thread::sleep(takes);
        if writing.write_all(format!("{}\n", clock.now().unix_nanos()).as_bytes()).is_err() {
            return;
        }
    }
}

/// Server and clients are one process, and nothing of ours knows when a request is on its way.
fn encrypted(runs: u32) {
    for _ in 0..runs {
        play(&idle_skip(), &programs::go(), &["http2", "800", "1"]);
    }
}
