//! Requests out of random numbers: mostly such that could be meant, some that are nonsense.

use std::time::Duration;

use serde_json::{Value, json};

use crate::resource::Kind;
use crate::resource::shelf::{Resource, Shelf};
use crate::rig::Rig;

/// Numbers to choose by.
pub(super) struct Dice {
    numbers: [u16; 8],
    next: usize,
}

impl Dice {
    pub(super) fn new(numbers: [u16; 8]) -> Self {
        Self { numbers, next: 0 }
    }

    /// The next number; each of them is used again when all are.
    fn roll(&mut self, below: usize) -> usize {
        let number = self.numbers[self.next % 8].rotate_left(u32::try_from(self.next / 8).unwrap_or(0));
        self.next += 1;
        usize::from(number) % below.max(1)
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }

    fn flip(&mut self) -> bool {
        self.roll(2) == 1
    }

    /// The id of something that is there, or now and then of nothing.
    fn id<T: Resource>(&mut self, shelf: &Shelf<T>) -> u64 {
        let ids: Vec<u64> = shelf.all().map(|thing| thing.head().id).collect();
        if ids.is_empty() || self.roll(12) == 0 { 17 } else { ids[self.roll(ids.len())] }
    }

    /// Some ids, often none.
    fn some<T: Resource>(&mut self, shelf: &Shelf<T>) -> Vec<u64> {
        if self.flip() && shelf.len() > 0 { vec![self.id(shelf)] } else { Vec::new() }
    }

    fn name(&mut self) -> String {
        format!("n{}", self.roll(12))
    }
}

/// The next request, after some time.
pub(super) fn next(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    rig.now += Duration::from_millis([0, 0, 900, 4_000, 30_000, 4_000_000][dice.roll(6)]);
    rig.engine.advance(rig.now);
    match dice.roll(8) {
        0 | 1 => create_server(rig, dice),
        2 => server_action(rig, dice),
        3 => creation(rig, dice),
        4 => action(rig, dice),
        5 => deletion(rig, dice),
        6 => connection(rig, dice),
        _ => nonsense(rig, dice),
    }
}

fn create_server(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    let project = &rig.engine.project;
    let body = json!({
        "name": dice.name(),
        "server_type": dice.of(&["cx23", "cx23", "cax11", "ccx13", "cx11", "nothing"]),
        "image": dice.of(&["ubuntu-24.04", "ubuntu-24.04", "debian-12", "nothing"]),
        "location": dice.of(&["fsn1", "fsn1", "nbg1", "ash"]),
        "networks": dice.some(&project.networks),
        "volumes": dice.some(&project.volumes),
        "firewalls": dice.some(&project.firewalls).iter().map(|id| json!({"firewall": id})).collect::<Vec<_>>(),
        "placement_group": dice.some(&project.placement_groups).first(),
        "start_after_create": dice.flip(),
        "labels": {"group": dice.of(&["a", "b"])},
        "public_net": {
            "enable_ipv4": dice.flip(),
            "enable_ipv6": dice.flip(),
            "ipv4": dice.some(&project.primary_ips).first(),
        },
    });
    ("POST", "/servers".to_owned(), body)
}

fn server_action(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    let project = &rig.engine.project;
    let id = dice.id(&project.servers);
    let action = |name: &str| format!("/servers/{id}/actions/{name}");
    let (path, body) = match dice.roll(17) {
        10 => (action(dice.of(&["enable_rescue", "disable_rescue"])), Value::Null),
        11 => (action("attach_iso"), json!({"iso": "virtio-win-0.1.271.iso"})),
        12 => (action(dice.of(&["detach_iso", "request_console", "reset_password"])), Value::Null),
        13 => (action("rebuild"), json!({"image": dice.id(&project.images)})),
        14 => (
            format!("/images/{}/actions/change_protection", dice.id(&project.images)),
            json!({"delete": dice.flip()}),
        ),
        15 => {
            let image = format!("/images/{}", dice.id(&project.images));
            return ("PUT", image, json!({"type": "snapshot", "description": "d"}));
        }
        16 => (action("create_image"), json!({"type": "backup"})),
        0 => (action("poweron"), Value::Null),
        1 => (action("poweroff"), Value::Null),
        2 => (action("shutdown"), json!({})),
        3 => (action("rebuild"), json!({"image": dice.of(&["ubuntu-24.04", "debian-12"])})),
        4 => (
            action("change_type"),
            json!({"server_type": dice.of(&["cx33", "cx23"]), "upgrade_disk": dice.flip()}),
        ),
        5 => (action("create_image"), json!({"type": dice.of(&["snapshot", "backup"]), "description": "d"})),
        6 => (action("enable_backup"), Value::Null),
        7 => (action("change_protection"), {
            let on = dice.roll(4) == 0;
            json!({"delete": on, "rebuild": on})
        }),
        8 => {
            (action("add_to_placement_group"), json!({"placement_group": dice.id(&project.placement_groups)}))
        }
        _ => (
            action(dice.of(&["remove_from_placement_group", "reset", "reboot", "disable_backup"])),
            Value::Null,
        ),
    };
    ("POST", path, body)
}

fn creation(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    let project = &rig.engine.project;
    let name = dice.name();
    let (path, body) = match dice.roll(7) {
        0 => (
            "/networks",
            json!({
                "name": name,
                "ip_range": dice.of(&["10.0.0.0/16", "10.1.0.0/29", "192.168.0.0/24"]),
                "subnets": [{"type": "cloud", "network_zone": dice.of(&["eu-central", "us-east"]), "ip_range": dice.of(&["10.0.1.0/29", "10.1.0.0/29", "192.168.0.0/24"])}],
            }),
        ),
        1 => (
            "/volumes",
            json!({"name": name, "size": 10 + dice.roll(30), "location": dice.of(&["fsn1", "nbg1"])}),
        ),
        2 => (
            "/firewalls",
            json!({"name": name, "apply_to": [{"type": "label_selector", "label_selector": {"selector": "group=a"}}]}),
        ),
        3 => ("/placement_groups", json!({"name": name, "type": "spread"})),
        4 => (
            "/primary_ips",
            json!({"name": name, "type": dice.of(&["ipv4", "ipv6"]), "location": "fsn1", "assignee_type": "server", "auto_delete": dice.flip()}),
        ),
        5 => ("/floating_ips", json!({"name": name, "type": "ipv4", "home_location": "fsn1"})),
        _ => (
            "/load_balancers",
            json!({
                "name": name,
                "load_balancer_type": "lb11",
                "location": "fsn1",
                "targets": dice.some(&project.servers).iter().map(|id| json!({"type": "server", "server": {"id": id}})).collect::<Vec<_>>(),
                "network": dice.some(&project.networks).first(),
                "public_net": dice.some(&project.primary_ips).first().map(|id| json!({"ipv4": id})),
            }),
        ),
    };
    ("POST", path.to_owned(), body)
}

fn action(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    let project = &rig.engine.project;
    let server = dice.id(&project.servers);
    let (path, body) = match dice.roll(9) {
        0 => (
            format!("/volumes/{}/actions/attach", dice.id(&project.volumes)),
            json!({"server": server, "automount": true}),
        ),
        1 => (format!("/volumes/{}/actions/detach", dice.id(&project.volumes)), Value::Null),
        2 => (
            format!("/volumes/{}/actions/resize", dice.id(&project.volumes)),
            json!({"size": 10 + dice.roll(60)}),
        ),
        3 => (
            format!("/primary_ips/{}/actions/assign", dice.id(&project.primary_ips)),
            json!({"assignee_id": server, "assignee_type": "server"}),
        ),
        4 => (format!("/primary_ips/{}/actions/unassign", dice.id(&project.primary_ips)), Value::Null),
        5 => (
            format!("/floating_ips/{}/actions/assign", dice.id(&project.floating_ips)),
            json!({"server": server}),
        ),
        6 => (
            format!("/firewalls/{}/actions/apply_to_resources", dice.id(&project.firewalls)),
            json!({"apply_to": [{"type": "server", "server": {"id": server}}]}),
        ),
        7 => (
            format!("/firewalls/{}/actions/remove_from_resources", dice.id(&project.firewalls)),
            json!({"remove_from": [{"type": "server", "server": {"id": server}}]}),
        ),
        _ => (
            format!("/load_balancers/{}/actions/add_target", dice.id(&project.load_balancers)),
            json!({"type": "server", "server": {"id": server}}),
        ),
    };
    ("POST", path, body)
}

fn deletion(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    let project = &rig.engine.project;
    let path = match dice.roll(10) {
        0 => format!("/volumes/{}", dice.id(&project.volumes)),
        1 => format!("/networks/{}", dice.id(&project.networks)),
        2 => format!("/firewalls/{}", dice.id(&project.firewalls)),
        3 => format!("/placement_groups/{}", dice.id(&project.placement_groups)),
        4 => format!("/primary_ips/{}", dice.id(&project.primary_ips)),
        5 => format!("/load_balancers/{}", dice.id(&project.load_balancers)),
        6 => format!("/images/{}", dice.id(&project.images)),
        _ => format!("/servers/{}", dice.id(&project.servers)),
    };
    ("DELETE", path, Value::Null)
}

fn connection(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    let project = &rig.engine.project;
    let network = dice.id(&project.networks);
    let ip = dice.of(&["10.0.1.3", "10.1.0.2", "192.168.0.9", "8.8.8.8"]);
    let server = dice.id(&project.servers);
    let (path, body) = match dice.roll(6) {
        0 => (format!("/servers/{server}/actions/attach_to_network"), json!({"network": network})),
        1 => (format!("/servers/{server}/actions/attach_to_network"), json!({"network": network, "ip": ip})),
        2 => (
            format!("/servers/{server}/actions/change_alias_ips"),
            json!({"network": network, "alias_ips": [ip]}),
        ),
        3 => (format!("/servers/{server}/actions/detach_from_network"), json!({"network": network})),
        4 => (
            format!("/load_balancers/{}/actions/attach_to_network", dice.id(&project.load_balancers)),
            json!({"network": network}),
        ),
        _ => (format!("/networks/{network}/actions/delete_subnet"), json!({"ip_range": "10.0.1.0/29"})),
    };
    ("POST", path, body)
}

/// What nobody means: wrong types, unknown fields, absurd numbers, bodies where there are none.
fn nonsense(rig: &mut Rig, dice: &mut Dice) -> (&'static str, String, Value) {
    let root = dice.of(&[
        "servers",
        "networks",
        "volumes",
        "load_balancers",
        "firewalls",
        "primary_ips",
        "floating_ips",
        "ssh_keys",
        "certificates",
        "images",
        "placement_groups",
    ]);
    let id = dice.of(&["0", "1", "18446744073709551616", "100000001", "10000001"]);
    let body = match dice.roll(6) {
        0 => json!({"name": 5, "labels": [], "size": "large", "type": 1, "server": {}, "ip_range": -1}),
        1 => json!({"name": "x".repeat(70_000), "labels": {"a/b/c": "ü", "": "x"}}),
        2 => json!({"nmae": "typo", "unknown": {"deep": [[[[]]]]}}),
        3 => {
            json!({"services": [{"protocol": 7}], "rules": [{"direction": "up"}], "targets": [1], "subnets": "none"})
        }
        4 => json!({"size": u64::MAX, "network": u64::MAX, "server": -1, "ip": "999.1.1.1", "networks": [0]}),
        _ => Value::Null,
    };
    let path = match dice.roll(5) {
        0 => format!("/{root}"),
        1 => format!("/{root}/{id}"),
        2 => format!(
            "/{root}/{id}/actions/{}",
            dice.of(&["attach", "add_service", "add_subnet", "set_rules", "assign", "resize"])
        ),
        3 => format!(
            "/{root}?page={id}&per_page={}&sort={}&label_selector={}",
            dice.of(&["0", "1", "x"]),
            dice.of(&["id", "no", "id:up"]),
            dice.of(&["a", "a=", "((", "a in ("])
        ),
        _ => format!("/{root}/actions/{id}"),
    };
    let _ = (rig, Kind::Server);
    (["GET", "POST", "PUT", "DELETE"][dice.roll(4)], path, body)
}
