//! `GET /pricing`: all prices at once.

use serde_json::{Value, json};

use crate::call::{Answer, Answered, Call};
use crate::catalogue::{AddressPrice, AddressPrices};
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::offer::show::{amount, prices};

#[expect(clippy::unnecessary_wraps, reason = "a room answers or refuses, and this one has nothing to refuse")]
pub(super) fn pricing(project: &Project, _call: &Call<'_>) -> Answered {
    let catalogue = &project.catalogue;
    let fees = &catalogue.prices;
    let server_types = catalogue.server_types.iter().filter(|it| super::sold(project, project.now, it));
    let server_types = server_types.map(|it| (it.id, &it.name, &it.prices));
    let balancers = catalogue.load_balancer_types.iter().map(|it| (it.id, &it.name, &it.prices));
    let typed = |(id, name, list): (u64, &String, &Vec<_>)| json!({"id": id, "name": name, "prices": prices(project, list)});
    // The price of a floating IP from before there were versions and locations of it.
    let floating_ip =
        fees.floating_ips.ipv4.first().map(|price| json!({"price_monthly": amount(project, price.monthly)}));
    let mut shown = json!({
        "currency": fees.currency,
        "vat_rate": format!("{:.6}", fees.vat_rate),
        "primary_ips": addresses(project, &fees.primary_ips),
        "floating_ips": addresses(project, &fees.floating_ips),
        "floating_ip": floating_ip,
        "image": {"price_per_gb_month": amount(project, fees.image_gb_month)},
        "volume": {"price_per_gb_month": amount(project, fees.volume_gb_month)},
        "server_backup": {"percentage": format!("{:.10}", fees.server_backup_percentage)},
        "server_types": server_types.map(typed).collect::<Vec<Value>>(),
        "load_balancer_types": balancers.map(typed).collect::<Vec<Value>>(),
    });
    if project.profile == Profile::Y2024 {
        // It stands with each type since August 2024.
        shown["traffic"] = json!({"price_per_tb": amount(project, fees.traffic_per_tb)});
    }
    Ok(Answer::ok(json!({"pricing": shown})))
}

fn addresses(project: &Project, all: &AddressPrices) -> Vec<Value> {
    let show = |price: &AddressPrice| {
        let mut shown = json!({"location": price.location, "price_monthly": amount(project, price.monthly)});
        if let (Some(hourly), Some(fields)) = (price.hourly, shown.as_object_mut()) {
            fields.insert("price_hourly".to_owned(), amount(project, hourly));
        }
        shown
    };
    let list = |kind: &str, all: &[AddressPrice]| json!({"type": kind, "prices": all.iter().map(show).collect::<Vec<_>>()});
    vec![list("ipv4", &all.ipv4), list("ipv6", &all.ipv6)]
}
