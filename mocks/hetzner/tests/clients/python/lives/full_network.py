"""A subnet with no address left, and a network without any subnet."""

from hcloud.networks import NetworkSubnet
from project import FALKENSTEIN, SMALL, UBUNTU, client, refused, server

bare = client.networks.create(name="bare", ip_range="10.1.0.0/16")
with refused("invalid_input"):
    client.servers.create(name="lost", server_type=SMALL, image=UBUNTU, location=FALKENSTEIN, networks=[bare])

tiny = NetworkSubnet(ip_range="10.0.0.0/29", type="cloud", network_zone="eu-central")
network = client.networks.create(name="tiny", ip_range="10.0.0.0/29", subnets=[tiny])
outside = server("outside")
inside = []
while True:
    one = server(f"inside-{len(inside)}")
    try:
        one.attach_to_network(network).wait_until_finished()
    except Exception as full:
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
