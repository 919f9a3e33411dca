//! Whether something is on its way between processes that all sleep.
//!
//! Nearly always a message on loopback has a runnable owner, and [`super::threads`] sees that. What it cannot
//! see is kept by the kernel:
//!
//! - packets in a processor's backlog, delivered later by a kernel thread that waits for a processor;
//! - bytes that a socket has not sent: Nagle's algorithm holds a small write back until the other side's delayed
//!   acknowledgement, 40 ms later, and all that time both ends sleep;
//! - bytes sent and lost, to be sent again;
//! - a connection not yet answered, or not yet accepted;
//! - bytes that arrived and are unread.
//!
//! A socket with bytes in it, of which none has been read or acknowledged for [`PATIENCE`], holds nothing that is on
//! its way: it is stuck, most often because its reader does not read, and a test that stalls a reader must not lose
//! its speed. It counts again once it moves.
//!
//! Sockets are looked at only when segments have been sent since everything was last seen empty and acknowledged:
//! from that state on no write is held back without one being sent before, unless the writer asks for it (with
//! `TCP_CORK` or `MSG_MORE`: such bytes can be jumped over). And which sockets are ours is found out anew only when a
//! connection has been opened or waits to be accepted, or a process has come in. A list of them is believed when those
//! who hold them slept while it was made, which the coordinator tells by [`Sockets::believe`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, statat};
use rustix::io::Errno;

use super::diag::{Diag, Ends, Progress, TcpSocket};
use super::ends::{End, Holders};
use crate::time::nanos;

/// Longer than the kernel's first retransmission, which is the longest it keeps anything back by itself.
const PATIENCE: Duration = Duration::from_millis(250);

/// The kernel's queues, and what is remembered of them from look to look.
#[derive(Debug)]
pub(crate) struct Sockets {
    diag: Diag,
    softnet: File,
    snmp: File,
    bytes: Vec<u8>,
    /// The connections and listeners of `listed_for`, when as many connections had been opened as `listed_at` says.
    ours: Vec<TcpSocket>,
    listed_for: BTreeSet<u32>,
    listed_at: Option<u64>,
    /// Nobody ran while they were listed, so none is missing.
    believed: bool,
    /// Inodes of sockets of ours that will never be connections.
    others: BTreeSet<u32>,
    /// Segments counted when all queues of ours were last seen empty and acknowledged.
    clean_at: Option<u64>,
    /// By the inode of the socket.
    queues: BTreeMap<u32, Queue>,
}

/// A socket with bytes in it.
#[derive(Clone, Copy, Debug)]
struct Queue {
    progress: Progress,
    /// The real moment at which progress was last seen.
    moved_at: u64,
}

/// What is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OnItsWay {
    /// So many packets wait in the backlog of a processor.
    Packets(u64),
    /// Bytes wait in a socket of ours.
    Bytes(TcpSocket),
}

impl fmt::Display for OnItsWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OnItsWay::Packets(n) => write!(f, "packets in the kernel's backlog: {n}"),
            OnItsWay::Bytes(socket) => socket.fmt(f),
        }
    }
}

impl Sockets {
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self {
            diag: Diag::open()?,
            softnet: open("/proc/self/net/softnet_stat")?,
            snmp: open("/proc/self/net/snmp")?,
            bytes: vec![0; 64 * 1024],
            ours: Vec::new(),
            listed_for: BTreeSet::new(),
            listed_at: None,
            believed: false,
            others: BTreeSet::new(),
            clean_at: None,
            queues: BTreeMap::new(),
        })
    }

    /// What is on its way to or from one of these processes at the real moment `now`.
    pub(crate) fn look(&mut self, pids: &BTreeSet<u32>, now: u64) -> io::Result<Option<OnItsWay>> {
        if let Some(packets) = self.packets()? {
            return Ok(Some(packets));
        }
        let counts = Counts::parse(read(&self.snmp, &mut self.bytes)?)?;
        if self.believed && self.clean_at == Some(counts.segments) && self.listed_for == *pids {
            return Ok(None);
        }
        self.list(pids, counts.opened)?;
        let mut busy: Vec<TcpSocket> =
            self.ours.iter().filter(|socket| socket.inode != 0 && !socket.is_clean()).cloned().collect();
        self.clean_at = busy.is_empty().then_some(counts.segments);
        busy.retain(|socket| socket.waiting() > 0);
        let before = std::mem::take(&mut self.queues);
        for socket in &busy {
            let progress = socket.progress();
            let moved_at = match before.get(&socket.inode) {
                Some(queue) if progress == queue.progress => queue.moved_at,
                _ => now,
            };
            self.queues.insert(socket.inode, Queue { progress, moved_at });
        }
        let moving =
            |socket: &TcpSocket| now.saturating_sub(self.queues[&socket.inode].moved_at) < nanos(PATIENCE);
        if let Some(socket) = busy.into_iter().find(moving) {
            return Ok(Some(OnItsWay::Bytes(socket)));
        }
        // What a socket held back may have been sent meanwhile.
        self.packets()
    }

    fn packets(&mut self) -> io::Result<Option<OnItsWay>> {
        let packets = backlog(read(&self.softnet, &mut self.bytes)?)?;
        Ok((packets > 0).then_some(OnItsWay::Packets(packets)))
    }

    /// Those whose sockets were looked at have slept since before that look.
    pub(crate) fn believe(&mut self) {
        self.believed = true;
    }

    /// Brings the list of our sockets up to date.
    fn list(&mut self, pids: &BTreeSet<u32>, opened: u64) -> io::Result<()> {
        if self.believed && self.listed_at == Some(opened) && self.listed_for == *pids {
            let inodes: BTreeSet<u32> = self.ours.iter().map(|socket| socket.inode).collect();
            let before = unaccepted(&self.ours);
            self.ask(Vec::new(), |inode| inodes.contains(&inode))?;
            // One that was accepted, or is gone: if it was accepted, the list must tell by whom.
            if before.0 == 0 && unaccepted(&self.ours) == before {
                return Ok(());
            }
        }
        self.believed = false;
        (self.listed_for, self.listed_at) = (pids.clone(), Some(opened));
        let files = files(pids)?;
        let listed: BTreeSet<u32> = self.ours.iter().map(|socket| socket.inode).collect();
        self.others.retain(|inode| files.contains_key(inode));
        let (mut new, mut holders) = (Vec::new(), Holders::default());
        for (inode, (pid, fd)) in files.iter().filter(|(inode, _)| !listed.contains(inode)) {
            if self.others.contains(inode) {
                continue;
            }
            match holders.end(*pid, *fd, *inode) {
                End::Connection { local, remote } => new.push(Ends { local, remote }),
                End::Listener(local) => new.push(Ends { local, remote: anywhere(local) }),
                End::Other => drop(self.others.insert(*inode)),
                End::Empty => {}
                End::Hidden => return self.walk(&files),
            }
        }
        self.ask(new, |inode| files.contains_key(&inode))
    }

    /// Asks for the sockets that were ours, and new ones, and keeps those that are.
    fn ask(&mut self, new: Vec<Ends>, is_ours: impl Fn(u32) -> bool) -> io::Result<()> {
        let mut ends: Vec<Ends> = self.ours.iter().map(TcpSocket::ends).collect();
        ends.extend(new);
        self.ours = self.diag.some(&ends)?;
        let mut told = BTreeSet::new();
        // One without an inode belongs to nobody, no longer or not yet. The kernel tells of a listener in place of each of
        // its connections that are gone.
        self.ours.retain(|socket| {
            (socket.inode == 0 || is_ours(socket.inode))
                && (!socket.is_listener() || told.insert(socket.inode))
        });
        Ok(())
    }

    /// The same from the kernel's list of all sockets, for processes that do not let theirs be seen. It knows nothing of
    /// listeners.
    fn walk(&mut self, files: &BTreeMap<u32, (u32, i32)>) -> io::Result<()> {
        self.ours = self.diag.all()?;
        // One that nobody has accepted yet has no inode, and may become ours.
        self.ours.retain(|socket| socket.inode == 0 || files.contains_key(&socket.inode));
        Ok(())
    }
}

/// Connections that nobody has accepted, as far as they can be seen: as listeners count them, and without an inode.
fn unaccepted(sockets: &[TcpSocket]) -> (u32, usize) {
    let listeners = sockets.iter().filter(|socket| socket.is_listener());
    (listeners.map(|socket| socket.unread).sum(), sockets.iter().filter(|socket| socket.inode == 0).count())
}

/// Every address of the family of this one.
fn anywhere(local: SocketAddr) -> SocketAddr {
    let ip = match local.ip() {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(ip, 0)
}

fn open(path: &str) -> io::Result<File> {
    File::open(path).map_err(|e| io::Error::new(e.kind(), format!("open {path}: {e}")))
}

fn read<'a>(file: &File, bytes: &'a mut [u8]) -> io::Result<&'a str> {
    let length = file.read_at(bytes, 0)?;
    std::str::from_utf8(&bytes[..length]).map_err(io::Error::other)
}

/// Packets in all backlogs: the twelfth column, where this kernel has one.
fn backlog(softnet: &str) -> io::Result<u64> {
    let column =
        |line: &str| line.split_ascii_whitespace().nth(11).map_or(Ok(0), |hex| u64::from_str_radix(hex, 16));
    softnet.lines().map(column).sum::<Result<u64, _>>().map_err(io::Error::other)
}

/// What the kernel has counted since it started.
struct Counts {
    /// TCP segments received and sent.
    segments: u64,
    /// TCP connections opened, from either side.
    opened: u64,
}

impl Counts {
    /// Reads them by the names in the first of the two `Tcp:` lines.
    fn parse(snmp: &str) -> io::Result<Self> {
        let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp: "));
        let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let of = |wanted: &str| {
            let found = names.split(' ').zip(values.split(' ')).find(|(name, _)| *name == wanted);
            let count = found.and_then(|(_, value)| value.parse::<u64>().ok());
            count.ok_or_else(|| io::Error::other(format!("no {wanted} of TCP in /proc/self/net/snmp")))
        };
        Ok(Self {
            segments: of("InSegs")?.wrapping_add(of("OutSegs")?),
            opened: of("ActiveOpens")?.wrapping_add(of("PassiveOpens")?),
        })
    }
}

/// The sockets that these processes have open: by their inodes, one process that has each, and as which of its files.
fn files(pids: &BTreeSet<u32>) -> io::Result<BTreeMap<u32, (u32, i32)>> {
    let mut files = BTreeMap::new();
    let mut listing = Vec::with_capacity(16 * 1024);
    for pid in pids {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match rustix::fs::open(format!("/proc/{pid}/fd"), flags, Mode::empty()) {
            Err(Errno::NOENT) => continue,
            folder => folder?,
        };
        let mut entries = RawDir::new(&folder, listing.spare_capacity_mut());
        // A process that ends just now has no files any more.
        while let Some(Ok(entry)) = entries.next() {
            // Where it leads is asked of what it leads to: its text would cost a name for each.
            let Ok(stat) = statat(&folder, entry.file_name(), AtFlags::empty()) else { continue };
            let fd = entry.file_name().to_str().ok().and_then(|name| name.parse().ok());
            if let (FileType::Socket, Some(fd)) = (FileType::from_raw_mode(stat.st_mode), fd) {
                files.insert(u32::try_from(stat.st_ino).map_err(io::Error::other)?, (*pid, fd));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::super::diag::tests::alone;
    use super::*;
    use crate::machine;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    }

    /// Looks until something, or nothing, of this process is on its way; other processes' packets may pass by.
    fn look_until(
        sockets: &mut Sockets,
        now: u64,
        wanted: impl Fn(Option<&TcpSocket>) -> bool,
    ) -> Option<TcpSocket> {
        let mut seen = None;
        let comes = machine::comes(|| {
            let found = match sockets.look(&BTreeSet::from([std::process::id()]), now).unwrap() {
                Some(OnItsWay::Packets(_)) => return false,
                Some(OnItsWay::Bytes(socket)) => Some(socket),
                None => None,
            };
            let is_wanted = wanted(found.as_ref());
            seen = found;
            is_wanted
        });
        assert!(comes, "not seen in a minute");
        seen
    }

    #[test]
    fn unread_bytes_are_on_their_way_until_patience_ends() {
        let _alone = alone();
        let (mut one, mut other) = pair();
        let mut sockets = Sockets::open().unwrap();
        look_until(&mut sockets, 0, |found| found.is_none());
        one.write_all(b"hello").unwrap();
        let found =
            look_until(&mut sockets, 1_000, |found| found.is_some_and(|socket| socket.unread > 0)).unwrap();
        assert_eq!((found.unread, found.local.port()), (5, other.local_addr().unwrap().port()));
        assert!(found.to_string().contains("unread 5, unsent 0"), "{found}");
        let late = 1_000 + nanos(PATIENCE);
        assert_eq!(look_until(&mut sockets, late, |found| found.is_none()), None, "stuck is not on its way");
        one.write_all(b"more").unwrap();
        assert_eq!(look_until(&mut sockets, late, |found| found.is_none()), None, "nobody reads it");
        other.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(
            look_until(&mut sockets, late, |found| found.is_some()).unwrap().unread,
            6,
            "it moves again"
        );
    }

    #[test]
    fn a_write_held_back_by_nagle_is_seen() {
        let _alone = alone();
        let (mut one, mut other) = pair();
        // Ping-pong first, so that the kernel takes this for a conversation and delays acknowledgements.
        for _ in 0..16 {
            one.write_all(b"x").unwrap();
            other.read_exact(&mut [0; 1]).unwrap();
            other.write_all(b"y").unwrap();
            one.read_exact(&mut [0; 1]).unwrap();
        }
        let mut sockets = Sockets::open().unwrap();
        let held_back = (0..50).any(|_| {
            one.write_all(b"first").unwrap();
            one.write_all(b"second").unwrap();
            let found = sockets.diag.all().unwrap();
            let port = one.local_addr().unwrap().port();
            let unsent = found.iter().any(|socket| socket.local.port() == port && socket.unsent == 6);
            other.read_exact(&mut [0; 11]).unwrap();
            other.write_all(b"y").unwrap();
            one.read_exact(&mut [0; 1]).unwrap();
            unsent
        });
        assert!(held_back, "no second write was ever held back");
    }

    /// Asked for one by one, and from the kernel's list of all, they are the same connections.
    #[test]
    fn both_ways_find_the_same_connections() {
        let _alone = alone();
        let pids = BTreeSet::from([std::process::id()]);
        let mut sockets = Sockets::open().unwrap();
        let pairs: Vec<_> = (0..3).map(|_| pair()).collect();
        let ends: BTreeSet<_> = pairs.iter().map(|(one, _)| one.local_addr().unwrap()).collect();
        let of_pairs = |sockets: &Sockets| {
            let ours = sockets.ours.iter().filter(|it| ends.contains(&it.local) || ends.contains(&it.remote));
            ours.map(|it| it.inode).collect::<BTreeSet<u32>>()
        };
        sockets.list(&pids, 1).unwrap();
        let asked = of_pairs(&sockets);
        sockets.walk(&files(&pids).unwrap()).unwrap();
        assert_eq!((asked.len(), of_pairs(&sockets)), (6, asked.clone()));
    }

    /// A list that was made while its processes ran may lack a socket, and is made anew until it is believed.
    #[test]
    fn a_list_counts_once_it_is_believed() {
        let _alone = alone();
        let pids = BTreeSet::from([std::process::id()]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut sockets = Sockets::open().unwrap();
        sockets.list(&pids, 1).unwrap();
        let accepted = listener.accept().unwrap().0;
        let end = accepted.local_addr().unwrap();
        let knows = |sockets: &Sockets| sockets.ours.iter().any(|it| it.local == end && !it.is_listener());
        assert!(!knows(&sockets), "nobody had accepted it");
        sockets.list(&pids, 1).unwrap();
        assert!(knows(&sockets), "it was accepted meanwhile");
        sockets.believe();
        sockets.list(&pids, 1).unwrap();
        assert!(sockets.believed, "nothing has changed since");
    }

    #[test]
    fn others_sockets_are_not_ours() {
        let _alone = alone();
        let (mut one, _other) = pair();
        one.write_all(b"hello").unwrap();
        let mut sockets = Sockets::open().unwrap();
        let found = sockets.look(&BTreeSet::new(), 0).unwrap();
        assert!(!matches!(found, Some(OnItsWay::Bytes(_))), "{found:?}");
    }

    #[test]
    fn nor_are_those_that_others_accept() {
        let _alone = alone();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut sockets = Sockets::open().unwrap();
        let mut look = || match sockets.look(&BTreeSet::new(), 0).unwrap() {
            Some(OnItsWay::Bytes(socket)) => panic!("{socket}"),
            Some(OnItsWay::Packets(_)) | None => {}
        };
        look();
        let _accepted = listener.accept().unwrap();
        one.write_all(b"hello").unwrap();
        look();
    }

    #[test]
    fn kernel_tables_are_read_by_name() {
        let snmp =
            "Ip: InSegs B\nIp: 1 2\nTcp: ActiveOpens PassiveOpens InSegs OutSegs\nTcp: 2 1 7 5\nUdp: X\n";
        let counts = Counts::parse(snmp).unwrap();
        assert_eq!((counts.segments, counts.opened), (12, 3));
        let missing = Counts::parse("Tcp: InSegs OutSegs\nTcp: 1 2\n").err().unwrap();
        assert_eq!(missing.to_string(), "no ActiveOpens of TCP in /proc/self/net/snmp");
        assert_eq!(backlog("0 0 0 0 0 0 0 0 0 0 0 1f 0\n0 0 0 0 0 0 0 0 0 0 0 1 1\n").unwrap(), 32);
        assert_eq!(backlog("0 0 0\n").unwrap(), 0, "old kernels have fewer columns");
    }
}
