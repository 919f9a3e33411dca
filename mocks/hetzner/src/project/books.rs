//! What the ledger is told: who is there since when, as what, at which price, and by whom.

use mock_clock::Time;

use crate::call::Call;
use crate::catalogue::{AddressPrices, LocationPrice};
use crate::ledger::{Opening, Price};
use crate::money::Money;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::image::ImageKind;
use crate::resource::public_ip::version;

/// What a thing is to the ledger, beside its name.
struct Tag {
    /// Empty for what is nowhere.
    location: String,
    /// Its type or size.
    what: String,
    price: Price,
}

impl Project {
    /// A thing is there from now on.
    pub(crate) fn opened(&mut self, call: &Call<'_>, kind: Kind, id: u64) {
        let Some((name, tag)) = self.name(kind, id).zip(self.tag(kind, id)) else { return };
        let Tag { location, what, price } = tag;
        let opening = Opening { kind, id, name, location, by: call.agent.to_owned(), what, price };
        self.ledger.opened(call.now, opening);
    }

    /// A thing has another name.
    pub(crate) fn renamed(&mut self, kind: Kind, id: u64) {
        if let Some(name) = self.name(kind, id) {
            self.ledger.renamed(kind, id, name);
        }
    }

    /// A thing costs something else from now on.
    pub(crate) fn repriced(&mut self, now: Time, kind: Kind, id: u64) {
        if let Some(tag) = self.tag(kind, id) {
            self.ledger.rate_changed(now, kind, id, &tag.what, tag.price);
        }
    }

    /// A thing is gone from now on.
    pub(crate) fn closed(&mut self, call: &Call<'_>, kind: Kind, id: u64) {
        self.ledger.closed(call.now, kind, id, call.agent);
    }

    /// A thing is gone from now on, and nobody asked for that.
    pub(crate) fn vanished(&mut self, now: Time, kind: Kind, id: u64) {
        self.ledger.closed(now, kind, id, "");
    }

    /// Images have no name, but a description.
    fn name(&self, kind: Kind, id: u64) -> Option<String> {
        match kind {
            Kind::Image => self.images.find(id).map(|image| image.description.clone()),
            _ => self.head(kind, id).map(|head| head.name.clone()),
        }
    }

    fn tag(&self, kind: Kind, id: u64) -> Option<Tag> {
        match kind {
            Kind::Server => self.server_tag(id),
            Kind::Image => self.image_tag(id),
            Kind::LoadBalancer => self.load_balancer_tag(id),
            Kind::PrimaryIp => self.primary_ip_tag(id),
            Kind::FloatingIp => self.floating_ip_tag(id),
            Kind::Volume => self.volume_tag(id),
            Kind::SshKey | Kind::Network | Kind::Firewall | Kind::PlacementGroup | Kind::Certificate => {
                Some(Tag { location: String::new(), what: kind.word().to_owned(), price: Price::FREE })
            }
            Kind::Action => None,
        }
    }

    fn server_tag(&self, id: u64) -> Option<Tag> {
        let server = self.servers.find(id)?;
        let server_type = self.catalogue.server_type(&server.server_type)?;
        let mut price = typed(server_type.price(&server.location));
        let mut what = server_type.name.clone();
        if server.backup_window.is_some() {
            let share = self.catalogue.prices.server_backup_percentage;
            price =
                Price { hourly: price.hourly.map(|it| it.gross(share)), monthly: price.monthly.gross(share) };
            what.push_str(" with backups");
        }
        Some(Tag { location: server.location.clone(), what, price })
    }

    fn load_balancer_tag(&self, id: u64) -> Option<Tag> {
        let balancer = self.load_balancers.find(id)?;
        let balancer_type = self.catalogue.load_balancer_type(&balancer.balancer_type)?;
        Some(Tag {
            location: balancer.location.clone(),
            what: balancer_type.name.clone(),
            price: typed(balancer_type.price(&balancer.location)),
        })
    }

    /// Snapshots cost by their size; backups are part of what their server costs.
    fn image_tag(&self, id: u64) -> Option<Tag> {
        let image = self.images.find(id)?;
        let hundredths = u64::from(image.size_hundredths.unwrap_or(0));
        let price = match image.kind {
            ImageKind::Snapshot => {
                let monthly = (self.catalogue.prices.image_gb_month * hundredths).part(100);
                Price { hourly: None, monthly }
            }
            _ => Price::FREE,
        };
        let what = image.kind.word().to_owned();
        Some(Tag { location: String::new(), what, price })
    }

    /// Those that were made with a load balancer are part of its price; those that the API does not know are not told.
    fn primary_ip_tag(&self, id: u64) -> Option<Tag> {
        let ip = self.primary_ips.find(id).filter(|ip| ip.is_known(self.profile))?;
        let usual = address(&self.catalogue.prices.primary_ips, ip.v4, &ip.location);
        let price = if ip.is_included() { Price::FREE } else { usual };
        Some(Tag { location: ip.location.clone(), what: version(ip.v4).to_owned(), price })
    }

    fn floating_ip_tag(&self, id: u64) -> Option<Tag> {
        let ip = self.floating_ips.find(id)?;
        let price = address(&self.catalogue.prices.floating_ips, ip.v4, &ip.location);
        Some(Tag { location: ip.location.clone(), what: version(ip.v4).to_owned(), price })
    }

    fn volume_tag(&self, id: u64) -> Option<Tag> {
        let volume = self.volumes.find(id)?;
        let price = by_size(self.catalogue.prices.volume_gb_month, volume.size_gb);
        Some(Tag { location: volume.location.clone(), what: format!("{} GB", volume.size_gb), price })
    }
}

/// What has no price there costs nothing.
fn typed(price: Option<&LocationPrice>) -> Price {
    price.map_or(Price::FREE, |it| Price { hourly: Some(it.hourly), monthly: it.monthly })
}

fn address(prices: &AddressPrices, v4: bool, location: &str) -> Price {
    let all = if v4 { &prices.ipv4 } else { &prices.ipv6 };
    let price = all.iter().find(|it| it.location == location);
    price.map_or(Price::FREE, |it| Price { hourly: it.hourly, monthly: it.monthly })
}

/// By size, without a price of its own for the hour.
fn by_size(gb_month: Money, gb: u64) -> Price {
    Price { hourly: None, monthly: gb_month * gb }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::ledger::Entry;
    use crate::money::Money;
    use crate::rig::Rig;

    #[test]
    fn what_costs_nothing_is_on_the_books_by_its_last_name() {
        let mut rig = Rig::new();
        let network = json!({"name": "a", "ip_range": "10.0.0.0/16"});
        let group = json!({"name": "a", "type": "spread"});
        let certificate = json!({"name": "a", "type": "managed", "domain_names": ["a.example.com"]});
        let firewall = json!({"name": "a"});
        let things = [
            ("network", network),
            ("placement_group", group),
            ("certificate", certificate),
            ("firewall", firewall),
        ];
        for (count, (kind, body)) in things.iter().enumerate() {
            let made = rig.post(&format!("/{kind}s"), body);
            let path = format!("/{kind}s/{}", made[kind]["id"]);
            rig.done("PUT", &path, &json!({"name": kind}));
            let ledger = &rig.engine.project.ledger;
            let left: Vec<&Entry> = ledger.left_over().collect();
            assert_eq!(left.len(), 1, "{left:?}");
            assert_eq!((left[0].kind.word(), left[0].name.as_str()), (*kind, *kind));
            rig.done("DELETE", &path, &Value::Null);
            let ledger = &rig.engine.project.ledger;
            assert_eq!((ledger.left_over().count(), ledger.entries().count()), (0, count + 1));
        }
        assert_eq!(rig.engine.project.ledger.total(None, rig.now), Money::ZERO);
    }
}
