//! Lives by example, and the laws of what they cost.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::month::{HOUR, Month};
use super::*;

const SERVER: Kind = Kind::Server;

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn at(text: &str) -> Time {
    text.parse().unwrap()
}

fn price(hourly: &str, monthly: &str) -> Price {
    Price { hourly: Some(money(hourly)), monthly: money(monthly) }
}

fn opening(kind: Kind, id: u64, what: &str, price: Price) -> Opening {
    Opening {
        kind,
        id,
        name: format!("n{id}"),
        location: "fsn1".to_owned(),
        by: "cluster-autoscaler/1.36 hcloud-go/2.37.0".to_owned(),
        what: what.to_owned(),
        price,
    }
}

/// A ledger with one server that costs 0.01 an hour and at most 6 a month.
fn server(from: &str) -> Ledger {
    let mut ledger = Ledger::default();
    assert!(ledger.opened(at(from), opening(SERVER, 1, "cx23", price("0.01", "6"))));
    ledger
}

#[test]
fn a_started_hour_is_a_whole_one() {
    let ledger = server("2026-03-01T00:30:00Z");
    for (moment, cost) in [
        ("2026-03-01T00:29:59Z", "0"),
        ("2026-03-01T00:30:00Z", "0.01"),
        ("2026-03-01T00:31:00Z", "0.01"),
        ("2026-03-01T01:30:00Z", "0.01"),
        ("2026-03-01T01:30:00.000000001Z", "0.02"),
        ("2026-03-02T00:30:00Z", "0.24"),
    ] {
        assert_eq!(ledger.total(None, at(moment)), money(cost), "{moment}");
    }
}

#[test]
fn a_month_costs_no_more_than_its_price_and_the_next_begins_anew() {
    let mut ledger = server("2026-03-01T00:00:00Z");
    assert_eq!(ledger.total(None, at("2026-03-25T23:00:00Z")), money("5.99"));
    assert_eq!(ledger.total(None, at("2026-03-26T00:00:00Z")), money("6"));
    assert_eq!(ledger.total(None, at("2026-04-01T00:00:00Z")), money("6"));
    assert_eq!(ledger.total(None, at("2026-04-01T01:00:00Z")), money("6.01"));
    assert!(ledger.closed(at("2026-04-01T12:00:00Z"), SERVER, 1, "by hand"));
    assert_eq!(ledger.total(None, at("2027-01-01T00:00:00Z")), money("6.12"));
    assert_eq!(ledger.total(Some(at("2026-04-01T00:00:00Z")), Time::NEVER), money("0.12"));
    assert_eq!(ledger.total(None, at("2026-03-01T05:00:00Z")), money("0.05"), "as it was then");
}

#[test]
fn an_hour_over_the_end_of_the_month_belongs_to_the_old_one() {
    let ledger = server("2026-03-31T23:30:00Z");
    let bill = ledger.bill(Some(at("2026-04-01T00:00:00Z")), at("2026-04-01T02:00:00Z"));
    assert_eq!((bill.resources[0].hours, bill.total), (2, money("0.02")));
}

#[test]
fn each_type_has_hours_of_its_own() {
    let mut ledger = server("2026-03-01T00:00:00Z");
    assert!(ledger.rate_changed(at("2026-03-01T01:30:00Z"), SERVER, 1, "cx33", price("0.1", "60")));
    assert!(ledger.closed(at("2026-03-01T01:45:00Z"), SERVER, 1, "hcloud-cli/1.67.0"));
    let bill = ledger.bill(None, at("2026-03-02T00:00:00Z"));
    let types: Vec<_> =
        bill.types.iter().map(|sum| (sum.what.as_deref().unwrap(), sum.hours, sum.cost)).collect();
    assert_eq!(types, [("cx23", 2, money("0.02")), ("cx33", 1, money("0.1"))]);
    assert_eq!((bill.kinds[0].count, bill.kinds[0].hours, bill.total), (1, 3, money("0.12")));
    assert_eq!(bill.resources[0].what, ["cx23", "cx33"]);
}

#[test]
fn going_there_and_back_does_not_evade_the_cap() {
    let mut ledger = server("2026-03-01T00:00:00Z");
    for day in 2..31 {
        let now = at(&format!("2026-03-{day:02}T00:00:00Z"));
        assert!(ledger.rate_changed(now, SERVER, 1, "cx23", price("0.01", "6")));
    }
    assert_eq!(ledger.total(None, at("2026-04-01T00:00:00Z")), money("6"));
    assert!(ledger.rate_changed(at("2026-03-31T00:00:00Z"), SERVER, 1, "cx33", price("0.1", "60")));
    assert_eq!(ledger.total(None, at("2026-04-01T00:00:00Z")), money("8.4"), "a dearer type for a day");
}

#[test]
fn a_dear_day_does_not_lift_the_cap_of_a_cheap_type() {
    let mut ledger = Ledger::default();
    ledger.opened(at("2026-03-01T00:00:00Z"), opening(SERVER, 1, "cx33", price("0.1", "60")));
    ledger.rate_changed(at("2026-03-02T00:00:00Z"), SERVER, 1, "cx23", price("0.01", "6"));
    assert_eq!(ledger.total(None, at("2026-04-01T00:00:00Z")), money("8.4"));
}

#[test]
fn a_monthly_price_is_paid_in_equal_parts() {
    let mut ledger = Ledger::default();
    let ten_gb = Price { hourly: None, monthly: money("0.672") };
    ledger.opened(at("2026-02-01T00:00:00Z"), opening(Kind::Volume, 7, "10", ten_gb));
    assert_eq!(ledger.total(None, at("2026-02-01T00:10:00Z")), money("0.001"));
    assert_eq!(ledger.total(None, at("2026-02-15T00:00:00Z")), money("0.336"));
    assert_eq!(
        ledger.total(None, at("2026-04-01T00:00:00Z")),
        money("1.344"),
        "a longer month costs the same"
    );
}

#[test]
fn a_life_of_no_length_costs_an_hour() {
    let mut ledger = server("2026-03-01T00:00:00Z");
    let now = at("2026-03-01T00:00:00Z");
    assert!(ledger.rate_changed(now, SERVER, 1, "cx33", price("0.1", "60")));
    assert!(ledger.closed(now, SERVER, 1, "by hand"));
    assert_eq!(ledger.total(None, at("2026-03-09T00:00:00Z")), money("0.1"));
}

#[test]
fn what_is_written_stays_written() {
    let mut ledger = server("2026-03-01T00:00:00Z");
    let (later, before) = (at("2026-03-01T05:00:00Z"), at("2026-02-01T00:00:00Z"));
    assert!(!ledger.opened(later, opening(SERVER, 1, "other", Price::FREE)), "it is there");
    assert!(
        !ledger.closed(later, SERVER, 2, "x") && !ledger.rate_changed(later, SERVER, 2, "x", Price::FREE)
    );
    assert!(ledger.opened(later, opening(Kind::Network, 1, "", Price::FREE)), "another kind, another number");
    let left: Vec<_> = ledger.left_over().map(|entry| (entry.kind, entry.id)).collect();
    assert_eq!(left, [(SERVER, 1), (Kind::Network, 1)]);
    assert!(ledger.closed(before, SERVER, 1, "by hand"), "a clock that went back ends it at its beginning");
    assert!(
        !ledger.closed(later, SERVER, 1, "x") && !ledger.rate_changed(later, SERVER, 1, "x", Price::FREE)
    );
    let entry = ledger.entries().next().unwrap();
    assert_eq!((entry.until, entry.deleted_by.as_deref()), (Some(entry.from), Some("by hand")));
    assert_eq!(ledger.left_over().count(), 1);
}

#[test]
fn the_table_can_be_read() {
    let mut ledger = server("2026-03-01T00:00:00Z");
    ledger.opened(at("2026-03-01T00:00:00Z"), opening(Kind::PrimaryIp, 2, "ipv4", price("0.0008", "0.5")));
    ledger.closed(at("2026-03-01T02:00:00Z"), SERVER, 1, "by hand");
    let table = format!("{:#}", ledger.bill(None, at("2026-03-01T10:00:00Z")));
    let expected = "\
kind             type                       count     hours        EUR net
server           cx23                           1         2         0.0200
server           (all)                          1         2         0.0200
primary_ip       ipv4                           1        10         0.0080
primary_ip       (all)                          1        10         0.0080
server 1 n1                                               2         0.0200  2026-03-01T00:00:00Z to 2026-03-01T02:00:00Z
primary_ip 2 n2                                          10         0.0080  2026-03-01T00:00:00Z to now
total                                                               0.0280";
    assert_eq!(table, expected);
    let json = serde_json::to_value(ledger.bill(None, at("2026-03-01T10:00:00Z"))).unwrap();
    assert_eq!(json["types"][1]["kind"], "primary_ip");
    assert_eq!(json["total"], "0.0280000000");
}

#[derive(Clone, Debug)]
struct Life {
    from: u64,
    changes: Vec<(u64, u64)>,
    end: Option<u64>,
}

/// Lives of up to some months, in minutes from a day in January.
fn life() -> impl Strategy<Value = Life> {
    let changes = prop::collection::vec((0..60_000u64, 0..PRICES.len() as u64), 0..5);
    (0..50_000u64, changes, prop::option::of(0..100_000u64)).prop_map(|(from, changes, end)| Life {
        from,
        changes,
        end,
    })
}

const PRICES: [(&str, &str); 4] =
    [("0.0088", "5.49"), ("0.0136", "8.49"), ("0.01", "7.44"), ("", "0.6720000001")];

fn minute(minutes: u64) -> Time {
    at("2026-01-17T03:20:00Z") + Duration::from_secs(minutes * 60)
}

fn nth(price: u64) -> Price {
    let (hourly, monthly) = PRICES[usize::try_from(price).unwrap() % PRICES.len()];
    Price { hourly: hourly.parse().ok(), monthly: money(monthly) }
}

fn ledger(lives: &[Life]) -> Ledger {
    let mut ledger = Ledger::default();
    for (id, life) in (1..).zip(lives) {
        ledger.opened(minute(life.from), opening(Kind::Server, id, "0", nth(id)));
        let mut now = life.from;
        for (after, what) in &life.changes {
            now += after;
            ledger.rate_changed(minute(now), Kind::Server, id, &what.to_string(), nth(*what));
        }
        if let Some(end) = life.end {
            ledger.closed(minute(now + end), Kind::Server, id, "by hand");
        }
    }
    ledger
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, cases: 128, ..Config::default() })]

    #[test]
    fn a_bill_is_the_sum_of_its_lines_and_of_its_spans(
        lives in prop::collection::vec(life(), 0..6),
        mut moments in prop::array::uniform2(0..300_000u64),
    ) {
        moments.sort_unstable();
        let [middle, end] = moments.map(minute);
        let ledger = ledger(&lives);
        let bill = ledger.bill(None, end);
        prop_assert_eq!(bill.total, ledger.total(None, end));
        prop_assert_eq!(bill.total, ledger.entries().map(|entry| entry.cost(end)).sum());
        prop_assert_eq!(bill.total, bill.kinds.iter().map(|sum| sum.cost).sum());
        prop_assert_eq!(bill.total, bill.types.iter().map(|sum| sum.cost).sum());
        prop_assert_eq!(bill.total, bill.resources.iter().map(|line| line.cost).sum());
        let (first, second) = (ledger.bill(None, middle), ledger.bill(Some(middle), end));
        prop_assert_eq!(first.total + second.total, bill.total);
        prop_assert_eq!(second.total, second.types.iter().map(|sum| sum.cost).sum());
        prop_assert_eq!(second.total, ledger.total(Some(middle), end));
        let stored = serde_json::to_string(&ledger).unwrap();
        prop_assert_eq!(serde_json::from_str::<Ledger>(&stored).unwrap(), ledger);
    }

    #[test]
    fn cost_never_falls_and_never_passes_the_cap(life in life(), mut moments in prop::collection::vec(0..300_000u64, 1..20)) {
        moments.sort_unstable();
        let ledger = ledger(std::slice::from_ref(&life));
        let entry = ledger.entries().next().unwrap();
        let costs: Vec<Money> = moments.iter().map(|moment| entry.cost(minute(*moment))).collect();
        prop_assert!(costs.is_sorted());
        let dearest = entry.phases.iter().map(|phase| phase.price.monthly).max().unwrap();
        let mut month = Month::of(minute(0));
        for _ in 0..12 {
            // An hour that began in a month was charged in it, even where it ends in the next.
            let before = minute(0).max(month.until) - Duration::from_nanos(1);
            let next = Month::of(month.until);
            let whole = ledger.total(Some(before), next.until - Duration::from_nanos(1));
            prop_assert!(whole <= dearest, "{whole:?} in {next:?}");
            month = next;
        }
    }

    #[test]
    fn a_life_cut_at_the_hour_costs_the_same(from in 0..50_000u64, hours in 0..3_000u64, cut in 0..3_000u64, price in 0..4u64) {
        let (start, end) = (minute(from), minute(from) + Duration::from_nanos((hours.max(cut)) * HOUR));
        let mut whole = Ledger::default();
        whole.opened(start, opening(Kind::Server, 1, "a", nth(price)));
        let mut two = whole.clone();
        two.rate_changed(start + Duration::from_nanos(cut * HOUR), Kind::Server, 1, "b", nth(price));
        prop_assert_eq!(two.total(None, end), whole.total(None, end));
    }
}
