"""Label selectors choose the same objects on every list."""

from project import client, refused

LABELS = {
    "plain": {},
    "dev": {"env": "dev", "example.com/tier": "1"},
    "prod": {"env": "prod", "example.com/tier": "1"},
    "empty": {"env": ""},
}
for name, labels in LABELS.items():
    client.networks.create(name=name, ip_range="10.0.0.0/8", labels=labels)
    client.placement_groups.create(name=name, type="spread", labels=labels)
    client.firewalls.create(name=name, labels=labels)

for selector, chosen in {
    "env=dev": {"dev"},
    "env==dev": {"dev"},
    "env!=dev": {"plain", "prod", "empty"},
    "env": {"dev", "prod", "empty"},
    "!env": {"plain"},
    "env in (dev,prod)": {"dev", "prod"},
    "env in (dev)": {"dev"},
    "env notin (dev,prod)": {"plain", "empty"},
    "env=": {"empty"},
    "env==": {"empty"},
    "env,example.com/tier=1": {"dev", "prod"},
    "example.com/tier=1,env!=dev": {"prod"},
    "nothing=here": set(),
}.items():
    for shelf in (client.networks, client.placement_groups, client.firewalls):
        names = {thing.name for thing in shelf.get_all(label_selector=selector)}
        assert names == chosen, f"{shelf._base_url} {selector!r}: {names}"

for selector in ("env in dev", "=dev", "a b", "env in (", "-a=b"):
    with refused("invalid_input"):
        client.networks.get_all(label_selector=selector)

for labels in ({"": "a"}, {"a b": "c"}, {"a": "-"}, {"a": "x" * 64}, {"x" * 64: "a"}, {"/a": "b"}):
    with refused("invalid_input"):
        client.placement_groups.create(name="wrong", type="spread", labels=labels)
dev = client.networks.get_by_name("dev")
assert dev.update(labels={"env": "test"}).labels == {"env": "test"}
assert [one.name for one in client.networks.get_all(label_selector="env=test")] == ["dev"]
