//! Public addresses: a block of IPv4 addresses and one of IPv6 networks for each location.
//!
//! Stands below primary and floating IPs. The addresses are of ranges set aside for benchmarks, shared networks and
//! documentation, so that none of them is anybody's. A new address is one that nobody had before; those given back come
//! again only when there are no others, the longest unused first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// IPv4 addresses between the beginnings of two blocks.
const BLOCK: u32 = 1 << 14;
/// Where blocks lie: the first address, and how many fit (198.18.0.0/15 and 100.64.0.0/10).
const BLOCKS: [(Ipv4Addr, u32); 2] = [(Ipv4Addr::new(198, 18, 0, 0), 8), (Ipv4Addr::new(100, 64, 0, 0), 248)];
/// How many /64 networks a location has. With its number they fill `2001:db8::/32`.
const NETWORKS: u32 = (1 << 24) - 1;

/// The addresses of all locations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pools {
    /// How many IPv4 addresses a location has.
    size: u32,
    locations: BTreeMap<String, Pool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Pool {
    /// Which block is its own, counted from 0.
    block: u32,
    ipv4: Numbers,
    ipv6: Numbers,
}

impl Pools {
    /// The most IPv4 addresses a location can have.
    pub(crate) const SIZE_MAX: u32 = BLOCK - 1;

    /// Pools with this many IPv4 addresses in each location. These locations have their blocks in this order;
    /// others may follow, and get theirs when somebody asks for an address there.
    pub(crate) fn new<'a>(locations: impl IntoIterator<Item = &'a str>, size: u32) -> Pools {
        let mut pools = Pools { size: 0, locations: BTreeMap::new() };
        pools.set_size(size);
        for location in locations {
            pools.at(location);
        }
        pools
    }

    /// Another size from now on. What is given stays given.
    pub(crate) fn set_size(&mut self, size: u32) {
        self.size = size.min(Self::SIZE_MAX);
    }

    /// An IPv4 address that nobody has.
    pub(crate) fn take_ipv4(&mut self, location: &str) -> Result<Ipv4Addr, Exhausted> {
        let size = self.size;
        let pool = self.at(location);
        let address = block(pool.block).and_then(|start| start.checked_add(pool.ipv4.take(size)?));
        address.map(Ipv4Addr::from_bits).ok_or_else(|| Exhausted { location: location.to_owned() })
    }

    /// The first address of a /64 network that nobody has.
    pub(crate) fn take_ipv6(&mut self, location: &str) -> Result<Ipv6Addr, Exhausted> {
        let pool = self.at(location);
        let numbers =
            u8::try_from(pool.block).ok().and_then(|block| Some((block, pool.ipv6.take(NETWORKS)?)));
        let (block, number) = numbers.ok_or_else(|| Exhausted { location: location.to_owned() })?;
        let [_, high, middle, low] = number.to_be_bytes();
        let (place, number) = (u16::from_be_bytes([block, high]), u16::from_be_bytes([middle, low]));
        Ok(Ipv6Addr::new(0x2001, 0xdb8, place, number, 0, 0, 0, 0))
    }

    /// Whether there is an IPv4 address to be taken; nothing is.
    pub(crate) fn has_ipv4(&self, location: &str) -> bool {
        let known = self.locations.get(location);
        let place = known.map_or_else(|| self.locations.len().try_into().ok(), |pool| Some(pool.block));
        let left = known.map_or(self.size > 0, |pool| pool.ipv4.next(self.size).is_some());
        left && place.and_then(block).is_some()
    }

    /// A location whose addresses could be given out twice: it shares its block, or has lost count of what is given.
    pub(crate) fn unsound(&self) -> Option<&str> {
        let mut blocks = BTreeSet::new();
        let unsound = self
            .locations
            .iter()
            .find(|(_, pool)| !blocks.insert(pool.block) || !pool.ipv4.are_sound() || !pool.ipv6.are_sound());
        unsound.map(|(location, _)| location.as_str())
    }

    /// Takes an address back. `false` if nobody has it.
    pub(crate) fn give_back(&mut self, address: IpAddr) -> bool {
        let mut pools = self.locations.values_mut();
        match address {
            IpAddr::V4(address) => pools.any(|pool| {
                let number = block(pool.block).and_then(|start| address.to_bits().checked_sub(start));
                number.is_some_and(|number| pool.ipv4.give_back(number))
            }),
            IpAddr::V6(address) => {
                let [0x2001, 0xdb8, place, low, 0, 0, 0, 0] = address.segments() else { return false };
                let [block, high] = place.to_be_bytes();
                let number = u32::from(high) << 16 | u32::from(low);
                pools.any(|pool| pool.block == u32::from(block) && pool.ipv6.give_back(number))
            }
        }
    }

    /// How many addresses somebody has.
    #[cfg(test)]
    pub(crate) fn given(&self) -> usize {
        self.locations.values().map(|pool| pool.ipv4.given.len() + pool.ipv6.given.len()).sum()
    }

    fn at(&mut self, location: &str) -> &mut Pool {
        let next = u32::try_from(self.locations.len()).unwrap_or(u32::MAX);
        self.locations.entry(location.to_owned()).or_insert_with(|| Pool {
            block: next,
            ipv4: Numbers::default(),
            ipv6: Numbers::default(),
        })
    }
}

/// Where a location's block begins; its first address is not given out.
fn block(mut index: u32) -> Option<u32> {
    for (start, count) in BLOCKS {
        if index < count {
            return Some(start.to_bits() + index * BLOCK);
        }
        index -= count;
    }
    None
}

/// Numbers from 1 that are given out one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Numbers {
    /// The highest that was ever given.
    highest: u32,
    given: BTreeSet<u32>,
    /// In the order in which they came back.
    back: VecDeque<u32>,
}

impl Numbers {
    /// Which comes next: one that was never given, or the one that came back first.
    fn next(&self, size: u32) -> Option<u32> {
        let fresh = (self.highest < size).then(|| self.highest.saturating_add(1));
        fresh.or_else(|| self.back.iter().copied().find(|number| *number <= size))
    }

    fn take(&mut self, size: u32) -> Option<u32> {
        let number = self.next(size)?;
        if number > self.highest {
            self.highest = number;
        } else if let Some(place) = self.back.iter().position(|back| *back == number) {
            self.back.remove(place);
        }
        self.given.insert(number);
        Some(number)
    }

    /// Whether none of them can be given out a second time.
    fn are_sound(&self) -> bool {
        let free: BTreeSet<&u32> = self.back.iter().collect();
        let known = |number: &u32| (1..=self.highest).contains(number);
        free.len() == self.back.len()
            && self.given.iter().all(|number| known(number) && !free.contains(number))
            && self.back.iter().all(known)
    }

    fn give_back(&mut self, number: u32) -> bool {
        let given = self.given.remove(&number);
        if given {
            self.back.push_back(number);
        }
        given
    }
}

/// No address is left in a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted {
    pub(crate) location: String,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no IP address is available in location {}", self.location)
    }
}

impl std::error::Error for Exhausted {}

/// What the reverse name of an IPv4 address is until somebody sets another. IPv6 networks have none.
pub(crate) fn default_pointer(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("static.{d}.{c}.{b}.{a}.clients.your-server.de")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::Config;

    use super::*;

    #[test]
    fn a_location_has_its_own_block_whoever_asks_first() {
        let mut pools = Pools::new(["fsn1", "nbg1"], 100);
        assert_eq!(pools.take_ipv4("nbg1").unwrap(), Ipv4Addr::new(198, 18, 64, 1));
        assert_eq!(pools.take_ipv4("fsn1").unwrap(), Ipv4Addr::new(198, 18, 0, 1));
        assert_eq!(pools.take_ipv4("moon").unwrap(), Ipv4Addr::new(198, 18, 128, 1));
        assert_eq!(pools.take_ipv6("fsn1").unwrap().to_string(), "2001:db8:0:1::");
        assert_eq!(pools.take_ipv6("nbg1").unwrap().to_string(), "2001:db8:100:1::");
        assert_eq!(default_pointer(Ipv4Addr::new(1, 2, 3, 4)), "static.4.3.2.1.clients.your-server.de");
    }

    #[test]
    fn blocks_do_not_meet_and_come_to_an_end() {
        let starts: BTreeSet<u32> = (0..256).filter_map(block).collect();
        assert_eq!((starts.len(), block(256)), (256, None));
        let sorted: Vec<u32> = starts.into_iter().collect();
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= BLOCK));
        let mut pools = Pools::new([], 1);
        for index in 0..256 {
            assert!(
                pools.take_ipv4(&index.to_string()).is_ok() && pools.take_ipv6(&index.to_string()).is_ok()
            );
        }
        assert_eq!(pools.take_ipv4("x").unwrap_err().to_string(), "no IP address is available in location x");
        assert!(pools.take_ipv6("x").is_err() && !pools.has_ipv4("x") && !pools.has_ipv4("y"));
    }

    #[test]
    fn what_comes_back_goes_out_last_and_in_order() {
        let mut pools = Pools::new(["fsn1"], 3);
        let [a, b] = [(); 2].map(|()| pools.take_ipv4("fsn1").unwrap());
        assert!(pools.give_back(b.into()) && pools.give_back(a.into()));
        assert!(!pools.give_back(a.into()), "nobody has it");
        let c = pools.take_ipv4("fsn1").unwrap();
        assert!(![a, b].contains(&c));
        assert_eq!([(); 2].map(|()| pools.take_ipv4("fsn1").unwrap()), [b, a]);
        assert!(pools.take_ipv4("fsn1").is_err());
        pools.set_size(1);
        assert!(pools.give_back(c.into()) && pools.take_ipv4("fsn1").is_err(), "beyond the new size");
        pools.set_size(u32::MAX);
        assert!(pools.take_ipv4("fsn1").is_ok());
    }

    #[test]
    fn what_could_be_given_twice_is_told() {
        let mut pools = Pools::new(["fsn1", "nbg1"], 3);
        let first = pools.take_ipv4("nbg1").unwrap();
        pools.take_ipv4("nbg1").unwrap();
        assert!(pools.give_back(first.into()));
        assert_eq!(pools.unsound(), None);
        let forge = |change: &dyn Fn(&mut Pool)| {
            let mut forged = pools.clone();
            change(forged.at("nbg1"));
            forged.unsound().map(str::to_owned)
        };
        let told = Some("nbg1".to_owned());
        assert_eq!(forge(&|pool| pool.block = 0), told);
        assert_eq!(forge(&|pool| pool.ipv4.highest = 1), told);
        assert_eq!(forge(&|pool| pool.ipv4.back[0] = 2), told, "somebody has it");
        assert_eq!(forge(&|pool| pool.ipv4.back.push_back(1)), told, "it is free twice");
        assert_eq!(forge(&|pool| pool.ipv6.back.push_back(1)), told, "it was never given");
    }

    #[test]
    fn what_was_never_given_is_not_taken_back() {
        let mut pools = Pools::new(["fsn1"], 3);
        for text in ["1.1.1.1", "198.18.0.0", "198.18.0.1", "2001:db8:0:1::", "2001:db8:ff00:1::", "::1"] {
            assert!(!pools.give_back(text.parse().unwrap()), "{text}");
        }
        let ip = pools.take_ipv6("fsn1").unwrap();
        assert!(!pools.give_back(Ipv6Addr::from_bits(ip.to_bits() + 1).into()), "not the network itself");
        assert!(pools.give_back(ip.into()));
    }

    proptest! {
        #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

        #[test]
        fn nobody_has_another_ones_address(
            size in 0..6u32,
            steps in prop::collection::vec((0..3usize, any::<bool>(), any::<prop::sample::Index>()), 0..60),
        ) {
            let names = ["a", "b", "c"];
            let mut pools = Pools::new(["a", "b"], size);
            let mut held: Vec<(usize, Ipv4Addr)> = Vec::new();
            for (location, take, which) in steps {
                if take {
                    let promised = pools.has_ipv4(names[location]);
                    let mine = held.iter().filter(|(at, _)| *at == location).count();
                    if let Ok(ip) = pools.take_ipv4(names[location]) {
                        prop_assert!(promised);
                        prop_assert!(held.iter().all(|(_, other)| *other != ip));
                        held.push((location, ip));
                    } else {
                        prop_assert!(!promised);
                        prop_assert_eq!(mine, size as usize, "refused only when all are given");
                    }
                    prop_assert!(mine <= size as usize);
                } else if !held.is_empty() {
                    let (_, ip) = held.swap_remove(which.index(held.len()));
                    prop_assert!(pools.give_back(ip.into()));
                }
                let stored = serde_json::to_string(&pools).unwrap();
                pools = serde_json::from_str(&stored).unwrap();
            }
        }
    }
}
