//! Prices per location, as people write them (net, several locations at once) and as the API does (net and gross).

use serde::Serialize;

use super::field::{Field, Fields, Once};
use crate::money::Money;

/// More traffic than anybody sells, in bytes.
const TRAFFIC: std::ops::RangeInclusive<u64> = 0..=(1 << 53);

/// What a server type or a load balancer type costs in one location; amounts are net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocationPrice {
    /// The name of the location.
    pub location: String,
    /// Per hour.
    pub hourly: Money,
    /// What a month costs at most.
    pub monthly: Money,
    /// Bytes of outgoing traffic that a month's price includes.
    pub included_traffic: u64,
    /// Per terabyte beyond that.
    pub traffic_per_tb: Money,
}

/// What an address costs in one location; amounts are net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressPrice {
    /// The name of the location.
    pub location: String,
    /// Per hour; none for floating IPs, which are billed by the month.
    pub hourly: Option<Money>,
    /// Per month, or what a month costs at most.
    pub monthly: Money,
}

/// An amount: `hourly: "0.0088"`, or `price_hourly: {net, gross}` of the API.
pub(super) fn amount(entry: &Fields<'_>, person: &'static str, api: &'static str) -> Option<Money> {
    if !entry.by_api() {
        return entry.need(person)?.money();
    }
    entry.need(api)?.fields()?.need("net")?.money()
}

/// The locations an entry is about: `location: fsn1` or `locations: [fsn1, nbg1]`.
fn locations(entry: &Fields<'_>, seen: &mut Once<String>) -> Vec<String> {
    let one = entry.maybe("location");
    let many = if entry.by_api() { None } else { entry.maybe("locations") };
    let named: Vec<Field<'_>> = match (one, many) {
        (Some(one), None) => vec![one],
        (None, Some(many)) => many.list(),
        _ => {
            entry.whole.wrong("needs one of the fields location and locations");
            Vec::new()
        }
    };
    let mut names = Vec::new();
    for field in named {
        if let Some(name) = field.location() {
            seen.see(name.clone(), field.sheet, field.place());
            names.push(name);
        }
    }
    names
}

/// A month never costs less than an hour.
fn in_proportion(entry: &Fields<'_>, hourly: Money, monthly: Money) {
    if hourly > monthly {
        entry
            .whole
            .wrong(format_args!("costs more by the hour ({hourly:.4}) than by the month ({monthly:.4})"));
    }
}

/// The list `prices` of a type.
pub(super) fn of_type(entry: &Fields<'_>) -> Option<Vec<LocationPrice>> {
    let mut seen = Once::new("price of the location");
    let mut prices = Vec::new();
    for field in entry.need("prices")?.list() {
        let Some(fields) = field.fields() else { continue };
        let names = locations(&fields, &mut seen);
        let hourly = amount(&fields, "hourly", "price_hourly");
        let monthly = amount(&fields, "monthly", "price_monthly");
        let included_traffic = fields.integer("included_traffic", TRAFFIC);
        let traffic_per_tb = amount(&fields, "traffic_per_tb", "price_per_tb_traffic");
        fields.done();
        let (Some(hourly), Some(monthly)) = (hourly, monthly) else { continue };
        let (Some(included_traffic), Some(traffic_per_tb)) = (included_traffic, traffic_per_tb) else {
            continue;
        };
        in_proportion(&fields, hourly, monthly);
        prices.extend(names.into_iter().map(|location| LocationPrice {
            location,
            hourly,
            monthly,
            included_traffic,
            traffic_per_tb,
        }));
    }
    Some(prices)
}

/// A list of prices of addresses, `hourly` or by the month alone.
pub(super) fn of_address(list: Field<'_>, by_hour: bool) -> Vec<AddressPrice> {
    let mut seen = Once::new("price of the location");
    let mut prices = Vec::new();
    for field in list.list() {
        let Some(fields) = field.fields() else { continue };
        let names = locations(&fields, &mut seen);
        let hourly = if by_hour { amount(&fields, "hourly", "price_hourly") } else { None };
        let monthly = amount(&fields, "monthly", "price_monthly");
        fields.done();
        let Some(monthly) = monthly else { continue };
        if let Some(hourly) = hourly {
            in_proportion(&fields, hourly, monthly);
        }
        prices.extend(names.into_iter().map(|location| AddressPrice { location, hourly, monthly }));
    }
    prices
}
