//! The kernel's list of TCP sockets, asked for over netlink: one walk for both families.
//!
//! `/proc/net/tcp` tells less, and costs some ten times as much on a machine with a large table.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

const GET_TCP: u16 = 18;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST_DUMP: u16 = 0x301;
/// Bit and number of the attribute that carries `tcp_info`.
const INFO: u8 = 2;
/// Every state in which bytes can be queued: established, opening, and all ways of closing.
const STATES: u32 = 1 << 1 | 1 << SYN_SENT | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
const SYN_SENT: u8 = 2;
const HEADER: usize = 16;
const MESSAGE: usize = 72;
/// Where `tcp_info` says how much was never sent.
const NOT_SENT: usize = 144;

/// A netlink socket on which to ask.
#[derive(Debug)]
pub(super) struct Diag {
    netlink: OwnedFd,
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
}

impl TcpSocket {
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
        write!(f, "socket {local} to {remote} has {unread} bytes unread and {unsent} unsent")?;
        if self.retrying { f.write_str(", and tries again") } else { Ok(()) }
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
        Ok(Self { netlink })
    }

    /// All TCP sockets of this network namespace in which bytes can be queued.
    pub(super) fn tcp_sockets(&self) -> io::Result<Vec<TcpSocket>> {
        rustix::net::send(&self.netlink, &request(), SendFlags::empty())?;
        let mut sockets = Vec::new();
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let (length, _) = rustix::net::recv(&self.netlink, &mut bytes[..], RecvFlags::empty())?;
            if read_messages(&bytes[..length], &mut sockets)? {
                return Ok(sockets);
            }
        }
    }
}

fn request() -> Vec<u8> {
    let mut body = vec![0, 0, 0, INFO];
    body.extend([0; 48]);
    body.extend(STATES.to_ne_bytes());
    body.extend([0; 4]);
    let length = u32::try_from(HEADER + body.len()).expect("a short message");
    let mut message = Vec::new();
    message.extend(length.to_ne_bytes());
    message.extend(GET_TCP.to_ne_bytes());
    message.extend(REQUEST_DUMP.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Reads one datagram; true after the last one of an answer.
fn read_messages(mut bytes: &[u8], sockets: &mut Vec<TcpSocket>) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let length = u32_at(bytes, 0)? as usize;
        let message = bytes.get(..length).filter(|_| length >= HEADER).ok_or_else(cut)?;
        match u16_at(message, 4)? {
            DONE => return Ok(true),
            ERROR => {
                let errno = i32::from_ne_bytes(slice(message, HEADER)?);
                return Err(io::Error::from_raw_os_error(errno.saturating_neg()));
            }
            _ => sockets.push(read_socket(&message[HEADER..])?),
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

fn read_socket(message: &[u8]) -> io::Result<TcpSocket> {
    let [family, state, _timer, retransmissions] = slice(message, 0)?;
    let port = |at| slice(message, at).map(u16::from_be_bytes);
    let unsent = match attribute(message.get(MESSAGE..).ok_or_else(cut)?, INFO)? {
        Some(info) if info.len() >= NOT_SENT + 4 => u32_at(info, NOT_SENT)?,
        _ => 0,
    };
    Ok(TcpSocket {
        local: SocketAddr::new(address(family, message, 8)?, port(4)?),
        remote: SocketAddr::new(address(family, message, 24)?, port(6)?),
        unread: u32_at(message, 56)?,
        unacknowledged: u32_at(message, 60)?,
        inode: u32_at(message, 68)?,
        unsent,
        retrying: retransmissions > 0 || state == SYN_SENT,
    })
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_messages(&bytes, &mut Vec::new());
            let _ = read_socket(&bytes);
        }
    }

    #[test]
    fn a_refusal_is_told() {
        let mut message = 36_u32.to_ne_bytes().to_vec();
        message.extend(ERROR.to_ne_bytes());
        message.extend([0; 10]);
        message.extend((-13_i32).to_ne_bytes());
        message.extend([0; 16]);
        let error = read_messages(&message, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_connection_is_listed_with_both_ends() {
        let listener = std::net::TcpListener::bind("[::1]:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, remote) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let sockets = Diag::open().unwrap().tcp_sockets().unwrap();
        let found = sockets.iter().find(|socket| socket.local == local).unwrap();
        assert_eq!((found.remote, found.retrying), (remote, false));
        assert_ne!(found.inode, 0);
    }
}
