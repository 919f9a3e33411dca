//! The kernel's list of TCP sockets, asked for over netlink.
//!
//! The whole list is one walk through the kernel's table for both families; on a machine with a large table that
//! is dear, if far cheaper than `/proc/net/tcp`, which tells less. A socket whose ends are known is found at once, and
//! many are asked for with one message.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

const GET_TCP: u16 = 18;
const GET_ONE: u16 = 20;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST: u16 = 1;
const REQUEST_DUMP: u16 = 0x301;
const TCP: u8 = 6;
/// Bit and number of the attribute that carries `tcp_info`.
const INFO: u8 = 2;
/// Every state in which bytes can be queued: established, opening, and all ways of closing.
const STATES: u32 = 1 << 1 | 1 << SYN_SENT | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
const SYN_SENT: u8 = 2;
const LISTEN: u8 = 10;
const HEADER: usize = 16;
const MESSAGE: usize = 72;
/// Where `tcp_info` says how much was acknowledged, received, and never sent.
const ACKNOWLEDGED: usize = 120;
const RECEIVED: usize = 128;
const NOT_SENT: usize = 144;
/// So many are asked for at once: the kernel keeps the answers, and must not run out of room.
const TOGETHER: usize = 32;

/// A netlink socket on which to ask.
#[derive(Debug)]
pub(super) struct Diag {
    netlink: OwnedFd,
    /// The numbers of the first and the last question that was asked at once, which the answers bear.
    asked: (u32, u32),
}

/// A socket by its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ends {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
}

/// The queues of one TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TcpSocket {
    pub(crate) inode: u32,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Arrived, and not read yet.
    pub(crate) unread: u32,
    /// Written, and never sent.
    pub(crate) unsent: u32,
    /// Written, sent or not, and not acknowledged.
    pub(crate) unacknowledged: u32,
    /// Sent again, or the connection is still being opened.
    pub(crate) retrying: bool,
    state: u8,
    /// Ever received, read or not.
    received: u64,
    /// Ever acknowledged by the other side.
    acknowledged: u64,
}

/// How far a socket has come, in either direction. A connection never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    read: u64,
    acknowledged: u64,
}

impl TcpSocket {
    pub(super) fn progress(&self) -> Progress {
        if self.is_listener() {
            return Progress { read: self.unread.into(), acknowledged: 0 };
        }
        Progress { read: self.received.saturating_sub(self.unread.into()), acknowledged: self.acknowledged }
    }

    /// It waits for connections; what is unread are those that nobody has accepted.
    pub(super) fn is_listener(&self) -> bool {
        self.state == LISTEN
    }

    pub(super) fn ends(&self) -> Ends {
        Ends { local: self.local, remote: self.remote }
    }

    /// Nothing in any queue, nothing outstanding.
    pub(super) fn is_clean(&self) -> bool {
        self.unread == 0 && self.unacknowledged == 0 && !self.retrying
    }

    /// How much is on its way. An acknowledgement that is merely late is not.
    pub(super) fn waiting(&self) -> u32 {
        let retried = if self.retrying { self.unacknowledged.max(1) } else { 0 };
        self.unread.saturating_add(self.unsent).saturating_add(retried)
    }
}

impl fmt::Display for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { local, remote, unread, unsent, .. } = self;
        if self.is_listener() {
            return write!(f, "connections to {local} that nobody has accepted: {unread}");
        }
        let retrying = if self.retrying { ", and it tries again" } else { "" };
        write!(f, "bytes in the socket from {local} to {remote}: unread {unread}, unsent {unsent}{retrying}")
    }
}

impl Diag {
    pub(super) fn open() -> io::Result<Self> {
        let netlink = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(SOCK_DIAG),
        )?;
        rustix::net::connect(&netlink, &SocketAddrNetlink::new(0, 0))?;
        Ok(Self { netlink, asked: (0, 0) })
    }

    /// All TCP sockets of this network namespace in which bytes can be queued.
    pub(super) fn all(&mut self) -> io::Result<Vec<TcpSocket>> {
        // Family and protocol are those of the old request: it is the one that asks for both families at once.
        let mut body = vec![0, 0, 0, INFO];
        body.extend([0; 48]);
        body.extend(STATES.to_ne_bytes());
        body.extend([0; 4]);
        self.ask(GET_TCP, REQUEST_DUMP, [body])?;
        let mut sockets = Vec::new();
        let mut bytes = vec![0; 64 * 1024];
        loop {
            for message in self.answers(&mut bytes)? {
                match message.kind {
                    DONE => return Ok(sockets),
                    ERROR => return Err(message.error()?),
                    _ => sockets.extend(read_socket(message.body)?),
                }
            }
        }
    }

    /// Those of these sockets that there are, as they are now. Where a connection is gone and its port is still served,
    /// the kernel tells of the listener there.
    pub(super) fn some(&mut self, wanted: &[Ends]) -> io::Result<Vec<TcpSocket>> {
        let mut sockets = Vec::with_capacity(wanted.len());
        let mut bytes = [0; 4096];
        for wanted in wanted.chunks(TOGETHER) {
            self.ask(GET_ONE, REQUEST, wanted.iter().map(question))?;
            let mut awaited = wanted.len();
            while awaited > 0 {
                for answer in self.answers(&mut bytes)? {
                    awaited = awaited.saturating_sub(1);
                    match answer.kind {
                        ERROR if answer.error()?.kind() == io::ErrorKind::NotFound => {}
                        ERROR => return Err(answer.error()?),
                        _ => sockets.extend(read_socket(answer.body)?),
                    }
                }
            }
        }
        Ok(sockets)
    }

    /// Sends questions in one message.
    fn ask(&mut self, kind: u16, flags: u16, bodies: impl IntoIterator<Item = Vec<u8>>) -> io::Result<()> {
        let first = self.asked.1.wrapping_add(1);
        self.asked.0 = first;
        let mut message = Vec::with_capacity(TOGETHER * (HEADER + MESSAGE));
        for (body, number) in bodies.into_iter().zip(0..) {
            self.asked.1 = first.wrapping_add(number);
            let length = u32::try_from(HEADER + body.len()).expect("a short message");
            message.extend(length.to_ne_bytes());
            message.extend(kind.to_ne_bytes());
            message.extend(flags.to_ne_bytes());
            message.extend(self.asked.1.to_ne_bytes());
            message.extend([0; 4]);
            message.extend(body);
            message.resize(message.len().next_multiple_of(4), 0);
        }
        rustix::net::send(&self.netlink, &message, SendFlags::empty())?;
        Ok(())
    }

    /// One datagram's answers to the last questions. What is left of earlier ones, broken off by an error, is not.
    fn answers<'a>(&self, bytes: &'a mut [u8]) -> io::Result<Vec<Message<'a>>> {
        let (length, _) =
            rustix::io::retry_on_intr(|| rustix::net::recv(&self.netlink, &mut *bytes, RecvFlags::empty()))?;
        let mut answers = messages(&bytes[..length])?;
        let (first, last) = self.asked;
        answers.retain(|message| message.question.wrapping_sub(first) <= last.wrapping_sub(first));
        Ok(answers)
    }
}

/// The question that names one socket by its two ends.
fn question(socket: &Ends) -> Vec<u8> {
    let (family, [local, remote]) = match (socket.local.ip(), socket.remote.ip()) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => (AddressFamily::INET, [local, remote].map(in_front)),
        (local, remote) => (AddressFamily::INET6, [local, remote].map(mapped)),
    };
    let family = u8::try_from(family.as_raw()).expect("a small number");
    let mut body = vec![family, TCP, INFO, 0];
    body.extend(u32::MAX.to_ne_bytes());
    body.extend(socket.local.port().to_be_bytes());
    body.extend(socket.remote.port().to_be_bytes());
    body.extend(local);
    body.extend(remote);
    body.extend([0; 4]);
    body.extend([0xff; 8]);
    body
}

fn in_front(address: Ipv4Addr) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&address.octets());
    bytes
}

fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// One message of an answer.
struct Message<'a> {
    kind: u16,
    /// The number of the question it answers.
    question: u32,
    body: &'a [u8],
}

impl Message<'_> {
    /// What an error message says.
    fn error(&self) -> io::Result<io::Error> {
        let errno = i32::from_ne_bytes(slice(self.body, 0)?);
        Ok(io::Error::from_raw_os_error(errno.saturating_neg()))
    }
}

/// Cuts one datagram into its messages.
fn messages(mut bytes: &[u8]) -> io::Result<Vec<Message<'_>>> {
    let mut messages = Vec::new();
    while bytes.len() >= HEADER {
        let length = u32_at(bytes, 0)? as usize;
        let message = bytes.get(..length).filter(|_| length >= HEADER).ok_or_else(cut)?;
        let (kind, question) = (u16_at(message, 4)?, u32_at(message, 8)?);
        messages.push(Message { kind, question, body: &message[HEADER..] });
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(messages)
}

/// Reads one socket; `None` for what is left of one that was closed, which has no queues.
fn read_socket(message: &[u8]) -> io::Result<Option<TcpSocket>> {
    let [family, state, _timer, retransmissions] = slice(message, 0)?;
    let port = |at| slice(message, at).map(u16::from_be_bytes);
    let Some(info) = attribute(message.get(MESSAGE..).ok_or_else(cut)?, INFO)? else { return Ok(None) };
    if info.len() < NOT_SENT + 4 {
        return Err(io::Error::other("this kernel tells too little of TCP sockets"));
    }
    Ok(Some(TcpSocket {
        local: SocketAddr::new(address(family, message, 8)?, port(4)?),
        remote: SocketAddr::new(address(family, message, 24)?, port(6)?),
        unread: u32_at(message, 56)?,
        unacknowledged: u32_at(message, 60)?,
        inode: u32_at(message, 68)?,
        unsent: u32_at(info, NOT_SENT)?,
        received: slice(info, RECEIVED).map(u64::from_ne_bytes)?,
        acknowledged: slice(info, ACKNOWLEDGED).map(u64::from_ne_bytes)?,
        retrying: retransmissions > 0 || state == SYN_SENT,
        state,
    }))
}

fn address(family: u8, message: &[u8], at: usize) -> io::Result<IpAddr> {
    if AddressFamily::from_raw(family.into()) == AddressFamily::INET {
        slice::<4>(message, at).map(|bytes| Ipv4Addr::from(bytes).into())
    } else {
        slice::<16>(message, at).map(|bytes| Ipv6Addr::from(bytes).into())
    }
}

/// The value of one attribute.
fn attribute(mut bytes: &[u8], kind: u8) -> io::Result<Option<&[u8]>> {
    while bytes.len() >= 4 {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(4..length).ok_or_else(cut)?;
        if u16_at(bytes, 2)? == u16::from(kind) {
            return Ok(Some(value));
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(None)
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    slice(bytes, at).map(u32::from_ne_bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    slice(bytes, at).map(u16::from_ne_bytes)
}

fn slice<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    let part = bytes.get(at..at + N).ok_or_else(cut)?;
    Ok(part.try_into().expect("of this length"))
}

fn cut() -> io::Error {
    io::Error::other("the kernel's list of sockets is cut off")
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for message in messages(&bytes).unwrap_or_default() {
                let _ = message.error();
            }
            let _ = read_socket(&bytes);
        }
    }

    #[test]
    fn a_refusal_is_told_and_earlier_answers_are_passed_over() {
        let mut diag = Diag::open().unwrap();
        // A dump whose answer nobody reads, then a question that cannot be answered, then one that can.
        diag.ask(GET_TCP, REQUEST_DUMP, [vec![0; 60]]).unwrap();
        let nowhere = "127.0.0.1:1".parse().unwrap();
        assert!(diag.some(&[Ends { local: nowhere, remote: nowhere }]).unwrap().is_empty());
        diag.ask(GET_ONE, REQUEST, [vec![0; 3]]).unwrap();
        let mut bytes = [0; 4096];
        let refusal = diag.answers(&mut bytes).unwrap().pop().unwrap().error().unwrap();
        assert_eq!(refusal.kind(), io::ErrorKind::NotFound);
        diag.all().unwrap();
    }

    /// Sockets are those of the whole process: under plain `cargo test` tests that make some must take turns.
    pub(in crate::coordinator) fn alone() -> MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closing in order leaves sockets that are hardly any: one end only, then both.
    #[test]
    fn what_is_left_of_a_closed_connection_is_passed_over() {
        let _alone = alone();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let ends = [stream.local_addr().unwrap(), accepted.local_addr().unwrap()];
        let mut diag = Diag::open().unwrap();
        let mut known = diag.all().unwrap();
        known.retain(|socket| ends.contains(&socket.local) && ends.contains(&socket.remote));
        assert_eq!(known.len(), 2);
        let known: Vec<Ends> = known.iter().map(TcpSocket::ends).collect();
        let mut left = || diag.some(&known).unwrap().iter().filter(|socket| !socket.is_listener()).count();
        for end in [stream, accepted] {
            drop(end);
            soon(|| left() < 2);
            Diag::open().unwrap().all().unwrap();
        }
        soon(|| left() == 0);
    }

    /// More than one message holds, all at once; those that are not there are passed over.
    #[test]
    fn many_are_found_at_once() {
        let _alone = alone();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let streams: Vec<TcpStream> =
            (0..2 * TOGETHER + 3).map(|_| TcpStream::connect(at).unwrap()).collect();
        let mut wanted: Vec<Ends> =
            streams.iter().map(|stream| Ends { local: stream.local_addr().unwrap(), remote: at }).collect();
        let nowhere = "127.0.0.1:1".parse().unwrap();
        wanted.insert(TOGETHER / 2, Ends { local: nowhere, remote: nowhere });
        let found = Diag::open().unwrap().some(&wanted).unwrap();
        wanted.remove(TOGETHER / 2);
        assert_eq!(found.iter().map(TcpSocket::ends).collect::<Vec<_>>(), wanted);
    }

    /// A listener tells how many connections nobody has accepted.
    #[test]
    fn connections_that_wait_are_counted() {
        let _alone = alone();
        for (place, anywhere) in
            [("127.0.0.1:0", "0.0.0.0:0"), ("[::1]:0", "[::]:0"), ("0.0.0.0:0", "0.0.0.0:0")]
        {
            let listener = TcpListener::bind(place).unwrap();
            let local = listener.local_addr().unwrap();
            let ends = Ends { local, remote: anywhere.parse().unwrap() };
            let mut diag = Diag::open().unwrap();
            let mut waiting = || match &*diag.some(&[ends]).unwrap() {
                [one] if one.is_listener() => one.unread,
                other => panic!("{other:?}"),
            };
            assert_eq!(waiting(), 0);
            let port = local.port();
            let stream = if local.is_ipv4() {
                TcpStream::connect(("127.0.0.1", port))
            } else {
                TcpStream::connect(local)
            };
            let _stream = stream.unwrap();
            soon(|| waiting() == 1);
            let _accepted = listener.accept().unwrap();
            assert_eq!(waiting(), 0);
        }
    }

    fn soon(come: impl FnMut() -> bool) {
        assert!(crate::machine::comes(come), "not in a minute");
    }

    /// A connection of each family is found in the list, found again while it lives, and not afterwards.
    #[test]
    fn a_connection_is_listed_and_found_again() {
        let _alone = alone();
        for place in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(place).unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            let ends = [stream.local_addr().unwrap(), stream.peer_addr().unwrap()];
            let mut diag = Diag::open().unwrap();
            let mut found = diag.all().unwrap();
            found.retain(|socket| ends.contains(&socket.local) && ends.contains(&socket.remote));
            assert_eq!(found.len(), 2);
            assert!(found.iter().all(|socket| socket.inode != 0 && socket.waiting() == 0));
            let found: Vec<Ends> = found.iter().map(TcpSocket::ends).collect();
            accepted.write_all(b"hello").unwrap();
            // The kernel may take a moment for both, and a child just being forked holds copies of our sockets.
            soon(|| diag.some(&found).unwrap().iter().map(|socket| socket.unread).sum::<u32>() == 5);
            drop((stream, accepted));
            soon(|| {
                diag.some(&found).unwrap().iter().all(|socket| socket.inode == 0 || socket.is_listener())
            });
        }
    }
}
