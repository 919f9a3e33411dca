//! Where the sockets of a process begin and end.
//!
//! The kernel finds a connection at once by its two ends, and only by a walk through its whole table by anything else;
//! that table has a quarter of a million rows on a large machine, and each connection that anybody opens would cost such
//! a walk. So a copy of a socket that is new is taken from its process, asked for its ends, and closed again.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::net::sockopt::{socket_acceptconn, socket_domain, socket_type};
use rustix::net::{AddressFamily, SocketType, getpeername, getsockname};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// Processes whose sockets are asked for, each opened once.
#[derive(Debug, Default)]
pub(super) struct Holders {
    opened: BTreeMap<u32, Option<OwnedFd>>,
}

/// What an open file of a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A connection between these two.
    Connection { local: SocketAddr, remote: SocketAddr },
    /// It waits for connections here.
    Listener(SocketAddr),
    /// A socket that will never be a connection of TCP.
    Other,
    /// No connection yet, or no longer.
    Empty,
    /// Nobody can say: it is gone, the process does not let it be copied, or it is just being opened.
    Hidden,
}

impl Holders {
    /// What the open file `fd` of a process is, if it is that inode still.
    pub(super) fn end(&mut self, pid: u32, fd: i32, inode: u32) -> End {
        let process = self.opened.entry(pid).or_insert_with(|| open(pid));
        let Some(process) = process else { return End::Hidden };
        pidfd_getfd(process, fd, PidfdGetfdFlags::empty()).map_or(End::Hidden, |copy| {
            let same = fstat(&copy).is_ok_and(|stat| stat.st_ino == u64::from(inode));
            if same { of(copy.as_fd()).unwrap_or(End::Hidden) } else { End::Hidden }
        })
    }
}

fn open(pid: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid.try_into().ok()?)?, PidfdFlags::empty()).ok()
}

fn of(socket: impl AsFd + Copy) -> Result<End, Errno> {
    let family = socket_domain(socket)?;
    if ![AddressFamily::INET, AddressFamily::INET6].contains(&family)
        || socket_type(socket)? != SocketType::STREAM
    {
        return Ok(End::Other);
    }
    let local = address(getsockname(socket)?.try_into()?);
    if socket_acceptconn(socket)? {
        return Ok(End::Listener(local));
    }
    match getpeername(socket) {
        Ok(Some(remote)) => Ok(End::Connection { local, remote: address(remote.try_into()?) }),
        Ok(None) | Err(Errno::NOTCONN) if is_closed(socket)? => Ok(End::Empty),
        Ok(None) => Ok(End::Hidden),
        Err(error) => Err(error),
    }
}

/// One that is just being opened has not hung up.
fn is_closed(socket: impl AsFd) -> Result<bool, Errno> {
    let mut asked = [PollFd::new(&socket, PollFlags::empty())];
    poll(&mut asked, Some(&Timespec::default()))?;
    Ok(asked[0].revents().contains(PollFlags::HUP))
}

/// Without what an address of version 6 carries besides.
fn address(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn seen(socket: &impl AsFd) -> End {
        let inode = u32::try_from(fstat(socket).unwrap().st_ino).unwrap();
        Holders::default().end(std::process::id(), socket.as_fd().as_raw_fd(), inode)
    }

    #[test]
    fn each_kind_of_socket_is_told_from_the_others() {
        for place in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(place).unwrap();
            let at = listener.local_addr().unwrap();
            assert_eq!(seen(&listener), End::Listener(at));
            let stream = TcpStream::connect(at).unwrap();
            let from = stream.local_addr().unwrap();
            assert_eq!(seen(&stream), End::Connection { local: from, remote: at });
        }
        assert_eq!(seen(&UdpSocket::bind("127.0.0.1:0").unwrap()), End::Other);
        assert_eq!(seen(&UnixStream::pair().unwrap().0), End::Other);
        let fresh = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        assert_eq!(seen(&fresh), End::Empty);
    }

    /// A connection that was reset is none; one whose other side does not answer is being opened, and hidden.
    #[test]
    fn one_that_is_over_is_told_from_one_that_is_being_opened() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        rustix::net::sockopt::set_socket_linger(&accepted, Some(std::time::Duration::ZERO)).unwrap();
        drop(accepted);
        let over = crate::machine::comes(|| seen(&stream) == End::Empty);
        assert!(over, "{:?}", seen(&stream));
        // A queue of one is full after two.
        rustix::net::listen(&listener, 0).unwrap();
        let _waiting = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let opening = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::io::ioctl_fionbio(&opening, true).unwrap();
        let begun = rustix::net::connect(&opening, &listener.local_addr().unwrap());
        assert_eq!((begun, seen(&opening)), (Err(Errno::INPROGRESS), End::Hidden));
    }

    #[test]
    fn what_cannot_be_seen_is_hidden() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (us, fd) = (std::process::id(), listener.as_raw_fd());
        assert_eq!(Holders::default().end(us, fd, 1), End::Hidden, "another inode than was listed");
        assert_eq!(Holders::default().end(us, i32::MAX, 1), End::Hidden, "no such file");
        assert_eq!(Holders::default().end(u32::MAX, 1, 1), End::Hidden, "no such process");
    }
}
