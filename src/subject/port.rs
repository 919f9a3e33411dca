//! Ports for what a subject itself listens at: found free, and kept so until it listens there.
//!
//! A socket that is bound and does not listen keeps the system from giving its port to anybody who asks for any port:
//! the other run beside this one. Whoever names the port, and says that he would share it as all servers do, gets it.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt};

/// A port that nobody else is given while this lives.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _kept: OwnedFd,
}

impl Port {
    /// A free one.
    pub fn reserve() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let kept = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&kept, true)?;
        bind(&kept, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address = SocketAddrV4::try_from(getsockname(&kept)?)?;
        Ok(Self { number: address.port(), _kept: kept })
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn who_names_the_port_gets_it_and_nobody_else_does() {
        let ports: Vec<Port> = (0..50).map(|_| Port::reserve().unwrap()).collect();
        let numbers: BTreeSet<u16> = ports.iter().map(Port::number).collect();
        assert_eq!(numbers.len(), ports.len());
        let others: Vec<TcpListener> = (0..500).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        assert!(others.iter().all(|other| !numbers.contains(&other.local_addr().unwrap().port())));
        for number in numbers {
            drop(TcpListener::bind(("127.0.0.1", number)).unwrap());
            drop(TcpListener::bind(("0.0.0.0", number)).unwrap());
        }
    }
}
