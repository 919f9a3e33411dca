"""A subnet with no address left, and a network without any subnet."""

from hcloud import APIException
from hcloud.networks import NetworkSubnet
from project import client, refused, server

bare = client.networks.create(name="bare", ip_range="10.1.0.0/16")
outside = server("outside")
with refused("no_subnet_available"):
    outside.attach_to_network(bare)

tiny = NetworkSubnet(ip_range="10.0.0.0/29", type="cloud", network_zone="eu-central")
network = client.networks.create(name="tiny", ip_range="10.0.0.0/24", subnets=[tiny])
inside = []
while True:
    one = server(f"inside-{len(inside)}")
    try:
        one.attach_to_network(network).wait_until_finished()
    except APIException as full:
        assert full.code == "no_subnet_available", full
        break
    one.reload()
    inside.append(one)
    assert len(inside) < 7, "more servers than addresses"
addresses = {one.private_net[0].ip for one in inside}
assert len(addresses) == len(inside) >= 4

inside[0].detach_from_network(network).wait_until_finished()
outside.attach_to_network(network).wait_until_finished()
outside.reload()
assert outside.private_net[0].ip in addresses
