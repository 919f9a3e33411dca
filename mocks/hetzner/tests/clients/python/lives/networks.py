"""Networks: their ranges, subnets and routes, and servers that come and go in them."""

from ipaddress import ip_address, ip_network

from hcloud.networks import NetworkRoute, NetworkSubnet
from hcloud.servers import ServerCreatePublicNetwork
from project import client, done, gone, refused, server


def subnet(ip_range):
    return NetworkSubnet(ip_range=ip_range, type="cloud", network_zone="eu-central")


def ranges():
    network = client.networks.create(name="net", ip_range="10.0.0.0/16", subnets=[subnet("10.0.1.0/24")])
    assert (network.name, network.ip_range, network.servers, network.routes) == ("net", "10.0.0.0/16", [], [])
    assert network.subnets[0].gateway == "10.0.0.1"
    network.add_subnet(subnet("10.0.2.0/24")).wait_until_finished()
    network.add_subnet(subnet(None)).wait_until_finished()
    network.reload()
    drawn = [ip_network(one.ip_range) for one in network.subnets]
    assert len(drawn) == 3 and all(one.subnet_of(ip_network("10.0.0.0/16")) for one in drawn)
    assert not any(one.overlaps(other) for one in drawn for other in drawn if one != other)
    network.delete_subnet(network.subnets[2]).wait_until_finished()
    network.change_ip_range("10.0.0.0/12").wait_until_finished()
    network.reload()
    assert network.ip_range == "10.0.0.0/12"
    assert [one.ip_range for one in network.subnets] == ["10.0.1.0/24", "10.0.2.0/24"]
    return network


def mistakes(network):
    with refused("invalid_input"):
        client.networks.create(name="public", ip_range="8.8.8.0/24")
    with refused("invalid_input"):
        client.networks.create(name="none", ip_range="10.0.0.0/33")
    with refused("uniqueness_error"):
        client.networks.create(name="net", ip_range="10.0.0.0/16")
    with refused("invalid_input"):
        network.add_subnet(subnet("192.168.0.0/24"))
    with refused("invalid_input"):
        network.add_subnet(NetworkSubnet(ip_range="10.0.9.0/24", type="cloud", network_zone="moon"))


def routes(network):
    route = NetworkRoute(destination="10.100.1.0/24", gateway="10.0.1.9")
    network.add_route(route).wait_until_finished()
    network.reload()
    assert [(one.destination, one.gateway) for one in network.routes] == [("10.100.1.0/24", "10.0.1.9")]
    network.delete_route(route).wait_until_finished()
    network.reload()
    assert network.routes == []


def inside_only(network):
    nowhere = ServerCreatePublicNetwork(enable_ipv4=False, enable_ipv6=False)
    hidden = server("hidden", networks=[network], public_net=nowhere)
    assert hidden.public_net.ipv4 is None and hidden.public_net.ipv6 is None
    assert ip_address(hidden.private_net[0].ip) in ip_network("10.0.1.0/24")
    assert client.primary_ips.get_all() == []
    return hidden


def attached_later(network, taken):
    late = server("late")
    assert late.private_net == []
    with refused("ip_not_available"):
        late.attach_to_network(network, ip=taken)
    late.attach_to_network(network, ip="10.0.2.7", alias_ips=["10.0.2.8"]).wait_until_finished()
    late.reload()
    assert (late.private_net[0].ip, late.private_net[0].alias_ips) == ("10.0.2.7", ["10.0.2.8"])
    with refused("server_already_attached"):
        late.attach_to_network(network)
    late.change_alias_ips(network, alias_ips=["10.0.2.10", "10.0.2.11"]).wait_until_finished()
    late.reload()
    assert sorted(late.private_net[0].alias_ips) == ["10.0.2.10", "10.0.2.11"]
    network.reload()
    assert len(network.servers) == 2
    member = next(member for member in network.get_member_all(type=["server"]) if member.id == late.id)
    assert (member.ip, member.subnet, member.status) == ("10.0.2.7", "10.0.2.0/24", "ok")
    assert sorted(member.alias_ips) == ["10.0.2.10", "10.0.2.11"]
    late.detach_from_network(network).wait_until_finished()
    late.attach_to_network(network, ip_range="10.0.2.0/24").wait_until_finished()
    late.reload()
    assert ip_address(late.private_net[0].ip) in ip_network("10.0.2.0/24")
    return late


def end(network, servers):
    network.change_protection(delete=True).wait_until_finished()
    with refused("protected"):
        network.delete()
    network.change_protection(delete=False).wait_until_finished()
    for one in servers:
        one.delete().wait_until_finished()
    network.reload()
    assert network.servers == []
    assert network.update(name="new", labels={"a": "b"}).labels == {"a": "b"}
    assert client.networks.get_by_name("new").id == network.id
    assert [action.command for action in network.get_actions(sort=["id"])][:2] == ["add_subnet", "add_subnet"]
    network.delete()
    gone(network.reload)


network = ranges()
mistakes(network)
routes(network)
hidden = inside_only(network)
late = attached_later(network, hidden.private_net[0].ip)
end(network, [hidden, late])
