"""Floating IPs, of a place and of a server."""

from ipaddress import ip_address, ip_network

from project import FALKENSTEIN, client, done, gone, refused, server

one = server("one")
four = done(client.floating_ips.create(type="ipv4", name="four", home_location=FALKENSTEIN, description="front"))
assert (four.type, four.server, four.description, four.blocked) == ("ipv4", None, "front", False)
assert ip_address(four.ip).version == 4 and four.home_location.name == "fsn1"
six = done(client.floating_ips.create(type="ipv6", name="six", server=one, labels={"a": "b"}))
assert ip_network(six.ip).prefixlen == 64 and six.server.id == one.id and six.labels == {"a": "b"}

four.assign(one).wait_until_finished()
one.reload()
assert sorted(ip.id for ip in one.public_net.floating_ips) == [four.id, six.id]
with refused("must_be_unassigned"):
    four.delete()
four.change_dns_ptr(ip=four.ip, dns_ptr="four.example.com").wait_until_finished()
four.reload()
assert [(ptr["ip"], ptr["dns_ptr"]) for ptr in four.dns_ptr] == [(four.ip, "four.example.com")]
four.unassign().wait_until_finished()
four.reload()
assert four.server is None

one.delete().wait_until_finished()
six.reload()
assert six.server is None
four.change_protection(delete=True).wait_until_finished()
with refused("protected"):
    four.delete()
four.change_protection(delete=False).wait_until_finished()
assert four.update(name="vier", description="back", labels={"c": "d"}).description == "back"
assert client.floating_ips.get_by_name("vier").id == four.id
assert [ip.id for ip in client.floating_ips.get_all(label_selector="a=b")] == [six.id]
assert four.delete() and six.delete()
gone(four.reload)
