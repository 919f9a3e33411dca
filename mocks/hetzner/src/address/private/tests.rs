//! Networks by example, and the laws of giving out addresses.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

fn range(text: &str) -> Range {
    Range::parse(text).unwrap()
}

fn ip(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn subnet(text: &str, zone: &str, kind: SubnetKind) -> Subnet {
    Subnet { range: range(text), kind, zone: zone.to_owned(), vswitch: None }
}

fn space(network: &str, subnets: &[&str]) -> PrivateSpace {
    let mut space = PrivateSpace::new(range(network)).unwrap();
    for text in subnets {
        space.add_subnet(subnet(text, "eu-central", SubnetKind::Cloud), &[]).unwrap();
    }
    space
}

const ANY: Wish<'_> = Wish { zone: "eu-central", within: None, ip: None, aliases: &[] };

fn attach(space: &mut PrivateSpace) -> Result<Ipv4Addr, Refusal> {
    let ip = space.choose(&ANY)?;
    assert!(space.take(ip));
    Ok(ip)
}

#[test]
fn a_network_is_private_and_large_enough() {
    assert!(PrivateSpace::new(range("10.0.0.0/8")).is_ok());
    assert!(PrivateSpace::new(range("10.0.0.0/25")).unwrap_err().contains("/24"));
    assert!(PrivateSpace::new(range("8.8.8.0/24")).unwrap_err().contains("RFC1918"));
}

#[test]
fn it_grows_at_its_end_only() {
    let mut space = space("10.2.0.0/16", &["10.2.1.0/24"]);
    for bad in ["10.2.0.0/17", "10.0.0.0/8", "10.3.0.0/16", "10.2.0.0/24"] {
        assert!(space.extend(range(bad)).unwrap_err().contains("extended"), "{bad}");
    }
    space.extend(range("10.2.0.0/15")).unwrap();
    assert_eq!(space.range(), range("10.2.0.0/15"));
    let mut edge = self::space("192.168.0.0/16", &[]);
    assert!(edge.extend(range("192.168.0.0/13")).unwrap_err().contains("RFC1918"));
}

#[test]
fn subnets_lie_inside_and_apart() {
    let mut space = space("10.0.0.0/16", &["10.0.1.0/24"]);
    let routes = [range("10.0.9.0/24"), Range::ALL];
    let mut add = |text| space.add_subnet(subnet(text, "eu-central", SubnetKind::Cloud), &routes);
    assert_eq!(add("10.0.1.128/25"), Err(SubnetRefusal::Overlaps(range("10.0.1.0/24"))));
    assert_eq!(add("10.0.8.0/22"), Err(SubnetRefusal::Overlaps(range("10.0.9.0/24"))));
    assert_eq!(add("10.1.0.0/24"), Err(SubnetRefusal::Outside(range("10.0.0.0/16"))));
    assert_eq!(add("10.0.2.0/31"), Err(SubnetRefusal::TooSmall));
    assert_eq!(add("10.0.2.0/30"), Ok(()));
    assert_eq!(space.subnets().len(), 2);
}

#[test]
fn without_a_range_the_first_free_24_is_taken() {
    let routes = [range("10.0.1.0/24"), Range::ALL];
    let mut space = space("10.0.0.0/22", &["10.0.0.0/25"]);
    assert_eq!(space.next_subnet(&routes), Ok(range("10.0.2.0/24")));
    for third in [2, 3] {
        space
            .add_subnet(subnet(&format!("10.0.{third}.0/24"), "eu-central", SubnetKind::Cloud), &routes)
            .unwrap();
    }
    assert_eq!(space.next_subnet(&routes), Err(SubnetRefusal::NoRoom));
    assert_eq!(space.next_subnet(&[]), Ok(range("10.0.1.0/24")));
    assert_eq!(self::space("10.7.7.0/24", &[]).next_subnet(&[]), Ok(range("10.7.7.0/24")));
}

#[test]
fn the_first_subnet_holds_the_gateway_of_all() {
    let mut space = space("10.0.0.0/16", &["10.0.0.0/29", "10.0.1.0/30"]);
    assert!(space.subnets().iter().all(|subnet| space.gateway_of(subnet) == ip("10.0.0.1")));
    let got: Vec<String> = std::iter::from_fn(|| attach(&mut space).ok()).map(|ip| ip.to_string()).collect();
    let all = ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.1.1", "10.0.1.2"];
    assert_eq!(got, all);
    assert_eq!(attach(&mut space), Err(Refusal::Full));
    assert!(space.taken.remove(&ip("10.0.0.4")) && !space.taken.remove(&ip("10.0.0.4")));
    assert_eq!(attach(&mut space), Ok(ip("10.0.0.4")));
}

#[test]
fn the_zone_and_the_kind_decide_who_may_come_in() {
    let mut space = space("10.0.0.0/16", &[]);
    assert_eq!(space.choose(&ANY), Err(Refusal::NoSubnet));
    space.add_subnet(subnet("10.0.5.0/24", "eu-central", SubnetKind::Vswitch), &[]).unwrap();
    space.add_subnet(subnet("10.0.6.0/24", "us-east", SubnetKind::Server), &[]).unwrap();
    assert_eq!(space.choose(&ANY), Err(Refusal::NoSubnet));
    assert_eq!(space.choose(&Wish { ip: Some(ip("10.0.5.9")), ..ANY }), Err(Refusal::NoSubnet));
    assert_eq!(space.choose(&Wish { zone: "us-east", ..ANY }), Ok(ip("10.0.6.1")));
    assert_eq!(space.gateway_of(&space.subnets()[0]), ip("10.0.5.1"));
}

#[test]
fn a_wanted_address_is_free_inside_and_nobodys_gateway() {
    let mut space = space("172.16.0.0/12", &["172.16.0.0/24", "172.31.1.0/24"]);
    assert!(space.take(ip("172.16.0.9")));
    for (wanted, told) in [
        ("172.16.0.9", Refusal::Taken(ip("172.16.0.9"))),
        ("172.16.0.0", Refusal::Reserved(ip("172.16.0.0"))),
        ("172.16.0.1", Refusal::Reserved(ip("172.16.0.1"))),
        ("172.16.0.255", Refusal::Reserved(ip("172.16.0.255"))),
        ("172.31.1.1", Refusal::Reserved(ip("172.31.1.1"))),
        ("172.17.0.1", Refusal::Outside(ip("172.17.0.1"))),
        ("8.8.8.8", Refusal::Outside(ip("8.8.8.8"))),
    ] {
        assert_eq!(space.choose(&Wish { ip: Some(ip(wanted)), ..ANY }), Err(told));
    }
    assert_eq!(space.choose(&Wish { ip: Some(ip("172.16.0.77")), ..ANY }), Ok(ip("172.16.0.77")));
    let second = Wish { within: Some(range("172.31.1.0/24")), ..ANY };
    assert_eq!(space.choose(&second), Ok(ip("172.31.1.2")), "the first is a gateway elsewhere");
    let outside = Wish { ip: Some(ip("172.16.0.77")), ..second };
    assert_eq!(space.choose(&outside), Err(Refusal::Outside(ip("172.16.0.77"))));
    assert_eq!(space.choose(&Wish { within: Some(range("172.31.0.0/16")), ..ANY }), Err(Refusal::NoSubnet));
}

#[test]
fn aliases_come_with_the_address_or_not_at_all() {
    let mut space = space("10.0.0.0/16", &["10.0.0.0/24"]);
    let [two, three] = [ip("10.0.0.2"), ip("10.0.0.3")];
    assert_eq!(space.choose(&Wish { aliases: &[two, three], ..ANY }), Ok(ip("10.0.0.4")));
    assert_eq!(space.choose(&Wish { aliases: &[two, two], ..ANY }), Err(Refusal::Taken(two)));
    assert_eq!(space.choose(&Wish { ip: Some(two), aliases: &[two], ..ANY }), Err(Refusal::Taken(two)));
    assert!(space.take(two));
    assert_eq!(space.choose(&Wish { aliases: &[two], ..ANY }), Err(Refusal::Taken(two)));
    assert_eq!(space.check("eu-central", two, &[two]), Ok(()), "it is his own");
    assert_eq!(space.check("eu-central", two, &[three]), Err(Refusal::Taken(two)));
}

#[test]
fn a_subnet_goes_when_nobody_is_in_it() {
    let mut space = space("10.0.0.0/16", &["10.0.0.0/24", "10.0.1.0/24"]);
    let first = attach(&mut space).unwrap();
    let (used, free) = (range("10.0.0.0/24"), range("10.0.1.0/24"));
    assert_eq!(space.remove_subnet(used), Err(SubnetRefusal::InUse(used)));
    assert_eq!(space.remove_subnet(free).map(|gone| gone.range), Ok(free));
    assert_eq!(space.remove_subnet(free), Err(SubnetRefusal::Unknown(free)));
    assert!(space.taken.remove(&first) && space.remove_subnet(used).is_ok());
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn each_address_is_given_once_inside_and_until_none_is_left(
        steps in prop::collection::vec((0..4u8, 0..16u32, any::<prop::sample::Index>()), 0..80),
        two in any::<bool>(),
    ) {
        let subnets: &[&str] = if two { &["10.0.0.0/29", "10.0.0.8/30"] } else { &["10.0.0.8/29"] };
        // Eight less network, broadcast and gateway, and four less two; or eight less two.
        let capacity = if two { 5 + 2 } else { 6 };
        let mut space = space("10.0.0.0/24", subnets);
        let mut held: Vec<Ipv4Addr> = Vec::new();
        for (what, offset, which) in steps {
            let wanted = (what == 0).then(|| Ipv4Addr::from_bits(ip("10.0.0.0").to_bits() + offset));
            if what == 3 && !held.is_empty() {
                let back = held.swap_remove(which.index(held.len()));
                prop_assert!(space.taken.remove(&back));
                continue;
            }
            match space.choose(&Wish { ip: wanted, ..ANY }) {
                Ok(got) => {
                    prop_assert!(!held.contains(&got) && wanted.is_none_or(|wanted| wanted == got));
                    prop_assert!(space.subnets().iter().any(|subnet| subnet.range.holds(got)));
                    prop_assert!(space.take(got));
                    held.push(got);
                }
                Err(refusal) if wanted.is_none() => {
                    prop_assert_eq!((refusal, held.len()), (Refusal::Full, capacity));
                }
                Err(Refusal::Taken(taken)) => prop_assert!(held.contains(&taken)),
                Err(refusal) => prop_assert!(matches!(refusal, Refusal::Reserved(_) | Refusal::Outside(_))),
            }
            let stored = serde_json::to_string(&space).unwrap();
            space = serde_json::from_str(&stored).unwrap();
        }
        prop_assert!(held.len() <= capacity);
    }
}
