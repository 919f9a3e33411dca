//! Asking a subject how it is, as a kubelet does: plain HTTP on its own port, and a second for an answer.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::Request;
use hyper::client::conn::http1::handshake;
use hyper::header::{CONNECTION, HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use mock_clock::{Clock as _, VirtualClock};
use tokio::net::TcpStream;

/// A kubelet gives it so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The status it answers with; 0 is no answer in time. Time does not jump meanwhile.
pub(super) async fn ask(clock: &VirtualClock, port: u16, path: &str) -> u16 {
    let _busy = clock.busy();
    clock.timeout(PATIENCE, get(port, path)).await.ok().flatten().unwrap_or(0)
}

/// What a kubelet takes for well.
pub(super) fn is_well(status: u16) -> bool {
    (200..400).contains(&status)
}

async fn get(port: u16, path: &str) -> Option<u16> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::get(path)
        .header(HOST, format!("127.0.0.1:{port}"))
        .header(USER_AGENT, "kube-probe/1.35")
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .ok()?;
    let mut answer = std::pin::pin!(sender.send_request(request));
    // A connection may be over as soon as the answer is there.
    let answer = tokio::select! {
        answer = &mut answer => answer,
        _ = connection => answer.await,
    };
    Some(answer.ok()?.status().as_u16())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// One that answers so, or not at all.
    fn answering(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 4096];
            let length = stream.read(&mut asked).unwrap();
            assert!(asked[..length].starts_with(b"GET /healthz HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).unwrap();
            // Until it is closed from the other side.
            let _ = stream.read(&mut asked);
        });
        port
    }

    #[tokio::test]
    async fn the_status_is_told_and_no_answer_is_none() {
        let clock = VirtualClock::idle_skip().unwrap();
        for (answer, status) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK", 200),
            ("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", 500),
            ("nonsense\r\n\r\n", 0),
            ("", 0),
        ] {
            assert_eq!(ask(&clock, answering(answer), "/healthz").await, status, "{answer}");
        }
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert_eq!(ask(&clock, nobody, "/healthz").await, 0);
        assert!(is_well(200) && is_well(399) && !is_well(400) && !is_well(0));
    }
}
