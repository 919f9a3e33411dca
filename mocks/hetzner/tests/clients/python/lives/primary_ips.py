"""Primary IPs: those that come and go with a server, and those that outlive it."""

from hcloud.servers import ServerCreatePublicNetwork
from project import FALKENSTEIN, client, done, gone, refused, server

ip = done(client.primary_ips.create(type="ipv4", name="kept", location=FALKENSTEIN, auto_delete=False))
assert (ip.type, ip.assignee_id, ip.auto_delete, ip.location.name) == ("ipv4", None, False, "fsn1")

one = server("one", public_net=ServerCreatePublicNetwork(ipv4=ip, enable_ipv6=False))
assert one.public_net.ipv4.ip == ip.ip and one.public_net.primary_ipv4.id == ip.id
assert one.public_net.ipv6 is None
ip.reload()
assert (ip.assignee_id, ip.assignee_type) == (one.id, "server")
with refused("must_be_unassigned"):
    ip.delete()
with refused("primary_ip_assigned"):
    server("two", public_net=ServerCreatePublicNetwork(ipv4=ip))
with refused("server_not_stopped"):
    ip.unassign()
one.power_off().wait_until_finished()
ip.unassign().wait_until_finished()
one.reload()
assert one.public_net.ipv4 is None
ip.assign(assignee_id=one.id, assignee_type="server").wait_until_finished()
ip.change_dns_ptr(ip=ip.ip, dns_ptr="one.example.com").wait_until_finished()
one.reload()
assert one.public_net.ipv4.dns_ptr == "one.example.com"

other = server("other")
own = client.primary_ips.get_by_id(other.public_net.primary_ipv4.id)
assert own.auto_delete and own.assignee_id == other.id and own.ip == other.public_net.ipv4.ip
kept = client.primary_ips.get_by_id(other.public_net.primary_ipv6.id)
assert kept.ip + "/64" == other.public_net.ipv6.ip or kept.ip == other.public_net.ipv6.ip
kept.update(auto_delete=False, name="six", labels={"a": "b"})
other.delete().wait_until_finished()
gone(own.reload)
kept.reload()
assert (kept.assignee_id, kept.name, kept.labels) == (None, "six", {"a": "b"})

one.delete().wait_until_finished()
ip.reload()
assert ip.assignee_id is None
assert {each.name for each in client.primary_ips.get_all()} == {"kept", "six"}
ip.change_protection(delete=True).wait_until_finished()
with refused("protected"):
    ip.delete()
ip.change_protection(delete=False).wait_until_finished()
assert ip.delete() and kept.delete()
gone(ip.reload)
