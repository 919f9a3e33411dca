//! Requests to every route there is, with the fields that it knows: mostly values that can be meant, now and then one
//! that cannot. Troubles and deeds of every kind, too.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::project::Chance;
use crate::project::Project;
use crate::resource::Kind;

/// A route and what may be sent there.
struct Form {
    method: &'static str,
    path: &'static str,
    fields: Vec<Field>,
}

impl Form {
    fn kind(&self) -> Kind {
        let root = self.path.split('/').nth(1).unwrap();
        Kind::PATHS.iter().find(|(path, _)| *path == root).unwrap().1
    }
}

struct Field {
    name: &'static str,
    optional: bool,
    list: bool,
    words: Vec<&'static str>,
    within: Vec<Field>,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let lines = include_str!("bodies.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(form).collect()
});

fn form(line: &'static str) -> Form {
    let mut parts = line.splitn(3, ' ');
    let (method, path) = (parts.next().unwrap(), parts.next().unwrap());
    Form { method, path, fields: fields(&mut parts.next().unwrap_or_default()) }
}

/// Reads fields up to the brace that ends them.
fn fields(rest: &mut &'static str) -> Vec<Field> {
    let mut all = Vec::new();
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            *rest = after;
            return all;
        }
        if rest.is_empty() {
            return all;
        }
        let end = rest.find([' ', '{', '}']).unwrap_or(rest.len());
        let (mut word, after) = rest.split_at(end);
        *rest = after;
        let optional = word.contains('?');
        word = word.trim_end_matches('?');
        let list = word.contains("[]");
        word = word.trim_end_matches("[]");
        let (name, words) = word.split_once('=').unwrap_or((word, ""));
        let words = words.split('|').filter(|word| !word.is_empty()).collect();
        let within = rest.strip_prefix('{').map(|inner| {
            *rest = inner;
            fields(rest)
        });
        all.push(Field { name, optional, list, words, within: within.unwrap_or_default() });
    }
}

/// What decides about one step.
pub(super) struct Whim<'a> {
    pub(super) chance: Chance,
    pub(super) project: &'a Project,
    /// How many of a hundred values are absurd.
    absurd: usize,
}

/// Nothing that any field wants, or just beyond what it wants.
fn absurdities() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(0.5),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!(" "),
        json!("\u{0}ü\n"),
        json!("x".repeat(300)),
        json!("18446744073709551616"),
        json!("0.0.0.0/0"),
        json!("255.255.255.255/32"),
        json!("10.0.0.0/33"),
        json!("10.0.0.1/8"),
        json!("::/0"),
        json!([]),
        json!([null]),
        json!([[]]),
        json!({}),
        json!({"": null}),
        json!({"id": u64::MAX}),
    ]
}

impl<'a> Whim<'a> {
    pub(super) fn new(seed: u64, project: &'a Project) -> Self {
        let mut chance = Chance::new(seed);
        // Most requests are meant, or nothing would ever come to be.
        let absurd = if chance.draw().is_multiple_of(4) { 15 } else { 0 };
        Self { chance, project, absurd }
    }

    pub(super) fn roll(&mut self, below: usize) -> usize {
        usize::try_from(self.chance.draw() % below.max(1) as u64).unwrap()
    }

    pub(super) fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())].clone()
    }

    /// A thing of a kind that is there, or now and then none.
    pub(super) fn id(&mut self, kind: Kind) -> u64 {
        let all = self.project.ids(kind);
        if all.is_empty() || self.roll(40) == 0 { self.of(&[0, 1, 17, u64::MAX]) } else { self.of(&all) }
    }

    /// The same for a field, which says nothing if there is none.
    fn reference(&mut self, kind: Kind) -> Value {
        let none = self.project.ids(kind).is_empty() && self.roll(20) > 0;
        if none { Value::Null } else { json!(self.id(kind)) }
    }

    pub(super) fn name(&mut self) -> String {
        format!("n{}", self.roll(12))
    }

    /// A request to change something.
    pub(super) fn request(&mut self) -> (&'static str, String, Value) {
        let creates = self.roll(3) == 0;
        let anyhow = self.roll(20) == 0;
        let own = self.project.images.all().any(|image| image.kind.is_own());
        let there = |form: &&Form| match form.kind() {
            Kind::Image => own,
            kind => !self.project.ids(kind).is_empty(),
        };
        let wanted =
            |form: &&Form| anyhow || form.path.contains("{id}") != creates && (creates || there(form));
        let some: Vec<&Form> = FORMS.iter().filter(wanted).collect();
        let some = if some.is_empty() { FORMS.iter().collect() } else { some };
        let form = self.of(&some);
        let id = self.id(form.kind()).to_string();
        let body =
            if form.fields.is_empty() && self.roll(20) > 0 { Value::Null } else { self.object(&form.fields) };
        (form.method, form.path.replace("{id}", &id), body)
    }

    fn object(&mut self, fields: &[Field]) -> Value {
        let mut all = Map::new();
        for field in fields {
            let left_out =
                if field.optional { self.roll(2) == 0 } else { self.absurd > 0 && self.roll(30) == 0 };
            if !left_out {
                all.insert(field.name.to_owned(), self.value(field));
            }
        }
        if self.absurd > 0 && self.roll(30) == 0 {
            all.insert("nmae".to_owned(), json!(1));
        }
        Value::Object(all)
    }

    fn value(&mut self, field: &Field) -> Value {
        if self.roll(100) < self.absurd {
            return self.of(&absurdities());
        }
        if field.list {
            let count = self.of(&[0, 1, 1, 1, 2, 3]);
            return (0..count).map(|_| self.one(field)).filter(|it| !it.is_null()).collect();
        }
        self.one(field)
    }

    fn one(&mut self, field: &Field) -> Value {
        if !field.within.is_empty() {
            return self.object(&field.within);
        }
        if !field.words.is_empty() {
            return json!(self.of(&field.words));
        }
        let words = |whim: &mut Self, words: &[&str]| json!(whim.of(words));
        match field.name {
            "name" => json!(self.name()),
            "labels" => json!({"group": self.of(&["a", "b"])}),
            "server_type" => words(
                self,
                &["cx23", "cx23", "cx23", "cx23", "cx33", "cx33", "cax11", "cpx22", "cx11", "nothing"],
            ),
            "load_balancer_type" => words(self, &["lb11", "lb21"]),
            "image" if self.roll(3) == 0 => json!(self.id(Kind::Image)),
            "image" => words(self, &["ubuntu-24.04", "debian-12"]),
            "location" | "home_location" => {
                words(self, &["fsn1", "fsn1", "fsn1", "fsn1", "fsn1", "fsn1", "nbg1", "ash"])
            }
            "network_zone" => words(self, &["eu-central", "eu-central", "us-east"]),
            "iso" => words(self, &["virtio-win-0.1.271.iso"]),
            "server" | "id" | "assignee_id" => self.reference(Kind::Server),
            "network" | "networks" => self.reference(Kind::Network),
            "volumes" => self.reference(Kind::Volume),
            "firewall" => self.reference(Kind::Firewall),
            "placement_group" => self.reference(Kind::PlacementGroup),
            "ssh_keys" => self.reference(Kind::SshKey),
            "certificates" => self.reference(Kind::Certificate),
            "ipv4" | "ipv6" => self.reference(Kind::PrimaryIp),
            "ip_range" | "destination" => words(self, &RANGES),
            "source_ips" | "destination_ips" => words(self, &["0.0.0.0/0", "::/0", "10.0.0.0/8"]),
            "ip" | "alias_ips" | "gateway" => self.address(),
            "dns_ptr" => self.of(&[json!("a.example.com"), Value::Null]),
            "size" => json!(10 + self.roll(60)),
            "port" => self.of(&[json!(80), json!("80"), json!("80-85"), json!("any")]),
            "listen_port" | "destination_port" => json!(self.of(&[80, 443])),
            "interval" | "timeout" | "retries" => json!(3 + self.roll(4)),
            "cookie_lifetime" => json!(300),
            "vswitch_id" => json!(5),
            "selector" => words(self, &["group=a", "group in (a,b)", "!group"]),
            "domain_names" => words(self, &["example.com", "*.example.com"]),
            "public_key" => words(self, &KEYS),
            "domain" | "path" | "response" | "description" | "user_data" | "cookie_name" => {
                words(self, &["x", "/"])
            }
            "status_codes" => words(self, &["200", "2??"]),
            _ => json!(self.roll(2) == 0),
        }
    }

    fn address(&mut self) -> Value {
        let pointed = self.project.primary_ips.all().map(|ip| ip.ip.to_string());
        let pointed: Vec<String> = pointed.take(3).collect();
        if pointed.is_empty() || self.roll(2) == 0 {
            return json!(self.of(&["10.0.1.3", "10.0.0.2", "10.0.0.1", "10.0.1.255", "192.168.0.9"]));
        }
        json!(self.of(&pointed))
    }

    /// Something that goes wrong.
    pub(super) fn trouble(&mut self) -> Value {
        let of = match self.roll(4) {
            0 => json!({"name": format!("n{}*", self.roll(2))}),
            1 => json!({"labels": "group=a"}),
            2 => json!({"id": self.id(Kind::Server)}),
            _ => json!({}),
        };
        let command =
            self.of(&[json!(null), json!("*server"), json!("create_*"), json!("attach*"), json!("delete_*")]);
        let status =
            self.of(&["initializing", "starting", "off", "running", "stopping", "rebuilding", "migrating"]);
        let lag = self.of(&[json!(null), json!(0), json!(30), json!(u64::MAX)]);
        let reads = if lag.is_null() { self.of(&[json!(1), json!(u32::MAX)]) } else { json!(null) };
        let on = self.of(&[
            json!({}),
            json!({"method": "change"}),
            json!({"path": "/servers*"}),
            json!({"name": "n1"}),
        ]);
        let mut trouble = match self.roll(19) {
            0 => json!({"kind": "sold_out", "server_type": self.of(&["cx*", "cx23"]),
                "refused_as": self.of(&["resource_unavailable", "invalid_input", "placement_error"])}),
            1 => json!({"kind": "quota", "servers": self.roll(3), "cores": self.roll(9), "primary_ips": 1}),
            2 => json!({"kind": "no_addresses", "location": "fsn1"}),
            3 => json!({"kind": "no_volume_space"}),
            4 => json!({"kind": "retired", "server_type": "cx23"}),
            5 => json!({"kind": "vanished", "image": "debian-12"}),
            6 => json!({"kind": "slow", "command": command, "of": of, "times": self.of(&[1, 7, u32::MAX]),
                "by_s": self.of(&[0, 60, u64::MAX])}),
            7 | 8 => json!({"kind": "stuck", "command": command, "of": of}),
            9 | 10 => json!({"kind": "fails", "command": command, "of": of}),
            11 => json!({"kind": "status_stuck", "status": status, "of": of}),
            12 => json!({"kind": "clock_skew", "by_s": self.of(&[i64::MIN, -5, 5, i64::MAX]), "of": of}),
            13 => {
                json!({"kind": "error", "on": on, "when": self.of(&["instead", "after"]), "code": "bad_gateway",
                "html": self.roll(2) == 0})
            }
            14 => json!({"kind": self.of(&["token_rejected", "token_read_only", "maintenance"])}),
            15 => json!({"kind": "rate_limit", "per_hour": self.of(&[0, 1, 100, u64::MAX]),
                "others_per_s": self.of(&[0, u32::MAX]), "spent": self.of(&["once", "always"])}),
            16 => json!({"kind": "unseen", "of": of, "lag_s": lag, "reads": reads}),
            17 => json!({"kind": "lingering", "of": of, "lag_s": lag, "reads": reads,
                "status": self.of(&[json!(null), json!("deleting")])}),
            _ => json!({"kind": "late_release", "of": of, "lag_s": self.of(&[0, 30, u64::MAX])}),
        };
        let closes = matches!(
            trouble["kind"].as_str(),
            Some("token_rejected" | "token_read_only" | "maintenance" | "rate_limit" | "error")
        );
        if closes || self.roll(3) == 0 {
            trouble["count"] = json!(self.of(&[1, 2, if closes { 3 } else { u32::MAX }]));
        }
        if self.roll(3) == 0 {
            trouble["for_s"] = json!(self.of(&[0, 10, 100_000, u64::MAX]));
        }
        let state = matches!(trouble["kind"].as_str(), Some("rate_limit" | "retired" | "vanished"));
        if !state && self.roll(3) == 0 {
            trouble["per_cent"] = json!(50);
        }
        trouble
    }

    /// Something done by hand.
    pub(super) fn deed(&mut self) -> Value {
        let (kind, server) = (self.of(&Kind::PATHS).1, self.id(Kind::Server));
        let which = self.id(kind);
        match self.roll(6) {
            0 => json!({"deed": "delete", "what": kind, "which": which}),
            1 => json!({"deed": "power_off", "server": server}),
            2 => json!({"deed": "power_on", "server": self.name()}),
            3 => {
                json!({"deed": "relabel", "what": kind, "which": which, "set": {"group": "a"}, "remove": ["group"]})
            }
            4 => json!({"deed": "rename", "what": kind, "which": which, "name": self.name()}),
            _ => json!({"deed": "detach", "server": server, "network": self.id(Kind::Network)}),
        }
    }

    /// Something to look at.
    pub(super) fn look(&mut self) -> String {
        let (root, kind) = self.of(&Kind::PATHS);
        match self.roll(6) {
            0 => format!("/{root}/{}", self.id(kind)),
            1 => format!("/{root}/{}/actions", self.id(kind)),
            2 => format!(
                "/{root}/actions?sort={}&status=running",
                self.of(&["id", "finished:desc", "command"])
            ),
            3 => self
                .of(&[
                    "/pricing",
                    "/server_types",
                    "/datacenters",
                    "/locations",
                    "/isos",
                    "/load_balancer_types",
                ])
                .to_owned(),
            4 => format!(
                "/{root}?page={}&per_page={}&sort={}&label_selector={}",
                self.of(&["1", "2", "18446744073709551615", "0", "-1"]),
                self.of(&["1", "50", "51", "18446744073709551615"]),
                self.of(&["id", "name:desc", "created", "no"]),
                self.of(&["", "group=a", "group in (a", "%ff", "!group,group"]),
            ),
            _ => format!("/{root}"),
        }
    }
}

const RANGES: [&str; 10] = [
    "10.0.0.0/16",
    "10.0.0.0/8",
    "10.0.0.0/16",
    "10.0.0.0/16",
    "10.0.1.0/24",
    "10.0.1.0/29",
    "10.0.1.0/30",
    "192.168.0.0/16",
    "172.16.0.0/12",
    "10.0.0.0/29",
];

const KEYS: [&str; 2] = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f a",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgEA b",
];
