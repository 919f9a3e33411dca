"""A load balancer: services, targets of each kind, networks, algorithm, type, and the addresses that it has."""

from ipaddress import ip_address, ip_network

from hcloud.load_balancer_types import LoadBalancerType
from hcloud.load_balancers import (
    LoadBalancerAlgorithm,
    LoadBalancerCreatePublicNetwork,
    LoadBalancerHealthCheck,
    LoadBalancerHealthCheckHttp,
    LoadBalancerService,
    LoadBalancerServiceHttp,
    LoadBalancerTarget,
    LoadBalancerTargetLabelSelector,
)
from hcloud.networks import NetworkSubnet
from hcloud.servers import ServerCreatePublicNetwork
from project import FALKENSTEIN, client, done, gone, refused, server

subnet = NetworkSubnet(ip_range="10.0.1.0/24", type="cloud", network_zone="eu-central")
network = client.networks.create(name="inside", ip_range="10.0.0.0/16", subnets=[subnet])
one = server("one", networks=[network], labels={"role": "web"})
two = server("two", networks=[network], labels={"role": "web"})
http = LoadBalancerHealthCheckHttp(path="/ready", status_codes=["2??"], domain="", response="", tls=False)
check = LoadBalancerHealthCheck(protocol="http", port=8080, interval=15, timeout=10, retries=3, http=http)
web = LoadBalancerService(
    protocol="http",
    listen_port=80,
    destination_port=8080,
    proxyprotocol=False,
    health_check=check,
    http=LoadBalancerServiceHttp(sticky_sessions=True, cookie_name="STUCK", cookie_lifetime=300),
)


def born():
    answer = client.load_balancers.create(
        name="front",
        load_balancer_type=LoadBalancerType(name="lb11"),
        location=FALKENSTEIN,
        algorithm=LoadBalancerAlgorithm(type="round_robin"),
        services=[web],
        targets=[LoadBalancerTarget(type="server", server=one, use_private_ip=False)],
        labels={"tier": "front"},
    )
    assert answer.action.command == "create_load_balancer"
    balancer = done(answer)
    assert (balancer.name, balancer.labels, balancer.location.name) == ("front", {"tier": "front"}, "fsn1")
    assert (balancer.load_balancer_type.name, balancer.algorithm.type) == ("lb11", "round_robin")
    assert balancer.public_net.enabled and ip_address(balancer.public_net.ipv4.ip).version == 4
    assert ip_address(balancer.public_net.ipv6.ip).version == 6 and balancer.private_net == []
    return balancer


def services(balancer):
    made = balancer.services[0]
    assert (made.protocol, made.listen_port, made.destination_port) == ("http", 80, 8080)
    assert (made.http.cookie_name, made.http.cookie_lifetime, made.http.sticky_sessions) == ("STUCK", 300, True)
    assert (made.health_check.port, made.health_check.http.path) == (8080, "/ready")
    with refused("source_port_already_used"):
        balancer.add_service(web)
    plain = LoadBalancerService(protocol="tcp", listen_port=22, destination_port=22)
    balancer.add_service(plain).wait_until_finished()
    balancer.update_service(LoadBalancerService(listen_port=22, destination_port=2222)).wait_until_finished()
    balancer.reload()
    added = next(service for service in balancer.services if service.listen_port == 22)
    assert (added.protocol, added.destination_port, added.health_check.protocol) == ("tcp", 2222, "tcp")
    balancer.delete_service(plain).wait_until_finished()
    balancer.reload()
    assert [service.listen_port for service in balancer.services] == [80]


def targets(balancer):
    with refused("target_already_defined"):
        balancer.add_target(LoadBalancerTarget(type="server", server=one))
    with refused("load_balancer_not_attached_to_network"):
        balancer.add_target(LoadBalancerTarget(type="server", server=two, use_private_ip=True))
    balancer.attach_to_network(network).wait_until_finished()
    balancer.reload()
    assert ip_address(balancer.private_net[0].ip) in ip_network("10.0.1.0/24")
    with refused("load_balancer_already_attached"):
        balancer.attach_to_network(network)
    balancer.add_target(LoadBalancerTarget(type="server", server=two, use_private_ip=True)).wait_until_finished()
    selector = LoadBalancerTargetLabelSelector(selector="role=web")
    labelled = LoadBalancerTarget(type="label_selector", label_selector=selector, use_private_ip=True)
    balancer.add_target(labelled).wait_until_finished()
    balancer.reload()
    by_server = {target.server.id: target for target in balancer.targets if target.type == "server"}
    assert {id: target.use_private_ip for id, target in by_server.items()} == {one.id: False, two.id: True}
    assert by_server[one.id].health_status[0].listen_port == 80
    by_label = next(target for target in balancer.targets if target.type == "label_selector")
    assert sorted(target.server.id for target in by_label.targets) == [one.id, two.id]
    for target in balancer.targets:
        balancer.remove_target(target).wait_until_finished()
    balancer.reload()
    assert balancer.targets == []


def settings(balancer):
    balancer.change_algorithm(LoadBalancerAlgorithm(type="least_connections")).wait_until_finished()
    balancer.change_type(LoadBalancerType(name="lb21")).wait_until_finished()
    balancer.disable_public_interface().wait_until_finished()
    balancer.reload()
    assert (balancer.algorithm.type, balancer.load_balancer_type.name) == ("least_connections", "lb21")
    assert not balancer.public_net.enabled
    balancer.enable_public_interface().wait_until_finished()
    balancer.change_dns_ptr(ip=balancer.public_net.ipv4.ip, dns_ptr="front.example.com").wait_until_finished()
    balancer.detach_from_network(network).wait_until_finished()
    balancer.reload()
    assert balancer.public_net.enabled and balancer.public_net.ipv4.dns_ptr == "front.example.com"
    assert balancer.private_net == []
    assert balancer.update(name="back", labels={"tier": "back"}).name == "back"


def addresses():
    """One that was there and outlives it, and one that comes and goes with it."""
    small = LoadBalancerType(name="lb11")
    ip = done(client.primary_ips.create(type="ipv4", name="kept", location=FALKENSTEIN))
    net = LoadBalancerCreatePublicNetwork(ipv4=ip)
    with refused("primary_ip_version_mismatch"):
        wrong = LoadBalancerCreatePublicNetwork(ipv6=ip)
        client.load_balancers.create(name="wrong", load_balancer_type=small, location=FALKENSTEIN, public_net=wrong)
    balancer = done(
        client.load_balancers.create(name="own", load_balancer_type=small, location=FALKENSTEIN, public_net=net)
    )
    four, six = balancer.public_net.ipv4, balancer.public_net.ipv6
    assert (four.primary_ip.id, four.ip, four.blocked) == (ip.id, ip.ip, False)
    new = client.primary_ips.get_by_id(six.primary_ip.id)
    assert ip_address(six.ip) in ip_network(new.ip) and (new.type, new.auto_delete) == ("ipv6", True)
    ip.reload()
    for each in (ip, new):
        assert (each.assignee_type, each.assignee_id) == ("load_balancer", balancer.id)
    with refused("must_be_unassigned"):
        ip.delete()
    with refused("invalid_input"):
        ip.unassign()
    with refused("primary_ip_already_assigned"):
        ip.assign(assignee_id=one.id, assignee_type="server")
    with refused("primary_ip_assigned"):
        server("three", public_net=ServerCreatePublicNetwork(ipv4=ip))
    ip.change_dns_ptr(ip=ip.ip, dns_ptr="own.example.com").wait_until_finished()
    balancer.reload()
    assert balancer.public_net.ipv4.dns_ptr == "own.example.com"
    balancer.delete().action.wait_until_finished()
    gone(new.reload)
    ip.reload()
    assert (ip.assignee_type, ip.assignee_id) == ("unassigned", None)
    assert server("three", public_net=ServerCreatePublicNetwork(ipv4=ip)).public_net.ipv4.ip == ip.ip


balancer = born()
services(balancer)
targets(balancer)
settings(balancer)
balancer.change_protection(delete=True).wait_until_finished()
with refused("protected"):
    balancer.delete()
balancer.change_protection(delete=False).wait_until_finished()
balancer.delete().action.wait_until_finished()
gone(balancer.reload)
addresses()
