"""A firewall: rules, and the servers it is put around by name and by label."""

from hcloud.firewalls import FirewallResource, FirewallResourceLabelSelector, FirewallRule
from project import client, done, gone, refused, server

one = server("one")
two = server("two", labels={"role": "web"})


def rule(port, **more):
    return FirewallRule(direction="in", protocol="tcp", port=port, source_ips=["0.0.0.0/0"], **more)


def around(thing):
    return FirewallResource(type="server", server=thing)


answer = client.firewalls.create(name="wall", rules=[rule("22", description="ssh")], resources=[around(one)])
wall = done(answer)
assert [action.command for action in answer.actions] == ["set_firewall_rules", "apply_firewall"]
assert [(made.port, made.description, made.source_ips) for made in wall.rules] == [("22", "ssh", ["0.0.0.0/0"])]
assert [resource.server.id for resource in wall.applied_to] == [one.id]
one.reload()
assert [(each.firewall.id, each.status) for each in one.public_net.firewalls] == [(wall.id, "applied")]

outward = FirewallRule(direction="out", protocol="icmp", destination_ips=["::/0"])
actions = wall.set_rules([rule("80"), rule("443-8443"), outward])
assert [action.command for action in actions][:1] == ["set_firewall_rules"]
for action in actions:
    action.wait_until_finished()
wall.reload()
assert [(made.direction, made.protocol, made.port) for made in wall.rules] == [
    ("in", "tcp", "80"),
    ("in", "tcp", "443-8443"),
    ("out", "icmp", None),
]
with refused("invalid_input"):
    wall.set_rules([FirewallRule(direction="in", protocol="tcp", source_ips=["0.0.0.0/0"])])
with refused("invalid_input"):
    wall.set_rules([rule("22", description=None), FirewallRule(direction="in", protocol="icmp")])
with refused("firewall_already_applied"):
    wall.apply_to_resources([around(one)])

labelled = FirewallResource(
    type="label_selector", label_selector=FirewallResourceLabelSelector(selector="role=web")
)
for action in wall.apply_to_resources([labelled]):
    action.wait_until_finished()
wall.reload()
by_label = next(resource for resource in wall.applied_to if resource.type == "label_selector")
assert by_label.label_selector.selector == "role=web"
assert [resource.server.id for resource in by_label.applied_to_resources] == [two.id]
three = server("three", labels={"role": "web"})
assert [each.firewall.id for each in three.public_net.firewalls] == [wall.id]
with refused("resource_in_use"):
    wall.delete()
for action in wall.remove_from_resources([around(one), labelled]):
    action.wait_until_finished()
wall.reload()
assert wall.applied_to == []
for each in (one, two, three):
    each.reload()
    assert each.public_net.firewalls == []

assert wall.update(name="gate", labels={"a": "b"}).name == "gate"
assert client.firewalls.get_all(sort=["name:desc"])[0].id == wall.id
assert wall.delete()
gone(wall.reload)
