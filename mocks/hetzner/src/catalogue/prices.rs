//! What the rest costs: addresses, volumes, images, backups, traffic.

use serde::Serialize;

use super::field::{Field, Fields};
use super::price::{self, AddressPrice};
use crate::money::{Money, VatRate};

/// The prices that belong to no type; amounts are net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prices {
    /// The currency of every amount.
    pub currency: String,
    /// The rate of the value added tax, which makes gross of net.
    pub vat_rate: VatRate,
    /// Primary IPs.
    pub primary_ips: AddressPrices,
    /// Floating IPs.
    pub floating_ips: AddressPrices,
    /// A volume, per GB and month.
    pub volume_gb_month: Money,
    /// A snapshot, per GB and month.
    pub image_gb_month: Money,
    /// What backups add to the price of a server, in percent, such as `20.00`.
    pub server_backup_percentage: VatRate,
    /// Traffic beyond what is included, where no type says otherwise.
    pub traffic_per_tb: Money,
}

/// Prices of addresses, by version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressPrices {
    /// Of IPv4 addresses.
    pub ipv4: Vec<AddressPrice>,
    /// Of IPv6 networks.
    pub ipv6: Vec<AddressPrice>,
}

/// The map `prices`.
pub(super) fn read(whole: Field<'_>) -> Option<Prices> {
    let fields = whole.fields()?;
    let currency = fields.need("currency").and_then(|field| field.one_of(&[("EUR", "EUR")]));
    let vat_rate = fields.need("vat_rate").and_then(Field::read);
    let primary_ips = addresses(&fields, "primary_ips", true);
    let floating_ips = addresses(&fields, "floating_ips", false);
    let money = |name| fields.need(name).and_then(Field::money);
    let volume_gb_month = money("volume_gb_month");
    let image_gb_month = money("image_gb_month");
    let server_backup_percentage = fields.need("server_backup_percentage").and_then(Field::read);
    let traffic_per_tb = money("traffic_per_tb");
    fields.done();
    Some(Prices {
        currency: currency?.to_owned(),
        vat_rate: vat_rate?,
        primary_ips: primary_ips?,
        floating_ips: floating_ips?,
        volume_gb_month: volume_gb_month?,
        image_gb_month: image_gb_month?,
        server_backup_percentage: server_backup_percentage?,
        traffic_per_tb: traffic_per_tb?,
    })
}

fn addresses(prices: &Fields<'_>, name: &'static str, by_hour: bool) -> Option<AddressPrices> {
    let fields = prices.need(name)?.fields()?;
    let version = |name| fields.need(name).map(|field| price::of_address(field, by_hour));
    let (ipv4, ipv6) = (version("ipv4"), version("ipv6"));
    fields.done();
    Some(AddressPrices { ipv4: ipv4?, ipv6: ipv6? })
}
