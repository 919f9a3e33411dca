"""A server with everything it can be made with, from its creation to what stays when it is gone."""

from ipaddress import ip_address, ip_network

from hcloud.firewalls import FirewallRule
from hcloud.networks import NetworkSubnet
from project import FALKENSTEIN, LARGE, SMALL, UBUNTU, client, done, gone, public_key, refused

key = client.ssh_keys.create(name="key", public_key=public_key("servers")[1])
subnet = NetworkSubnet(ip_range="10.0.1.0/24", type="cloud", network_zone="eu-central")
network = client.networks.create(name="inside", ip_range="10.0.0.0/16", subnets=[subnet])
volume = done(client.volumes.create(name="data", size=10, location=FALKENSTEIN, format="ext4"))
web = [FirewallRule(direction="in", protocol="tcp", port="443", source_ips=["0.0.0.0/0", "::/0"])]
firewall = done(client.firewalls.create(name="web", rules=web))
group = done(client.placement_groups.create(name="apart", type="spread"))


def born():
    answer = client.servers.create(
        name="one",
        server_type=SMALL,
        image=UBUNTU,
        location=FALKENSTEIN,
        ssh_keys=[key],
        networks=[network],
        volumes=[volume],
        firewalls=[firewall],
        placement_group=group,
        labels={"pool": "a", "example.com/zone": ""},
        user_data="#cloud-config\npackages: [curl]\n",
        automount=False,
    )
    assert answer.server.status == "initializing" and answer.root_password is None
    assert answer.action.command == "create_server"
    assert {"id": answer.server.id, "type": "server"} in answer.action.resources
    assert {"start_server", "attach_to_network"} <= {action.command for action in answer.next_actions}
    return done(answer)


def all_of_it_is_there(server):
    assert server.status == "running" and not server.locked
    assert server.server_type.name == "cx23" and server.location.name == "fsn1"
    assert server.image.name == "ubuntu-24.04" and server.image.architecture == "x86"
    assert server.labels == {"pool": "a", "example.com/zone": ""}
    assert server.primary_disk_size == server.server_type.disk
    assert server.protection == {"delete": False, "rebuild": False}
    assert ip_address(server.public_net.ipv4.ip).version == 4
    assert ip_network(server.public_net.ipv6.ip).prefixlen == 64
    assert [private.network.id for private in server.private_net] == [network.id]
    assert ip_address(server.private_net_for(network).ip) in ip_network("10.0.1.0/24")
    assert server.private_net[0].mac_address
    assert [(wall.firewall.id, wall.status) for wall in server.public_net.firewalls] == [(firewall.id, "applied")]
    assert [one.id for one in server.volumes] == [volume.id]
    assert server.placement_group.id == group.id


def the_others_know(server_ids):
    for thing in (network, volume, firewall, group):
        thing.reload()
    assert [server.id for server in network.servers] == server_ids
    assert ([volume.server.id] if volume.server else []) == server_ids
    assert [resource.server.id for resource in firewall.applied_to] == server_ids
    assert group.servers == server_ids


def power(server):
    for press, status in [
        (server.power_off, "off"),
        (server.power_on, "running"),
        (server.reboot, "running"),
        (server.reset, "running"),
    ]:
        press().wait_until_finished()
        server.reload()
        assert server.status == status, (press, server.status)


def another_type(server):
    with refused("server_not_stopped"):
        server.change_type(LARGE, upgrade_disk=False)
    small_disk = server.primary_disk_size
    for server_type, upgrade_disk in [(LARGE, False), (SMALL, False), (LARGE, True)]:
        server.power_off().wait_until_finished()
        server.change_type(server_type, upgrade_disk=upgrade_disk).wait_until_finished()
        server.reload()
        assert (server.server_type.name, server.status) == (server_type.name, "running")
        assert (server.primary_disk_size == small_disk) != upgrade_disk
    assert server.primary_disk_size == server.server_type.disk
    server.power_off().wait_until_finished()
    with refused("invalid_server_type"):
        server.change_type(SMALL, upgrade_disk=False)
    server.power_on().wait_until_finished()


def another_system(server):
    answer = server.create_image(description="as it was", type="snapshot", labels={"from": "one"})
    assert (answer.image.type, answer.image.status, answer.image.name) == ("snapshot", "creating", None)
    snapshot = done(answer)
    assert (snapshot.status, snapshot.created_from.id) == ("available", server.id)
    assert (snapshot.description, snapshot.labels) == ("as it was", {"from": "one"})
    assert snapshot.disk_size == server.primary_disk_size
    answer = server.rebuild(snapshot)
    answer.action.wait_until_finished()
    server.reload()
    assert (server.image.id, server.status) == (snapshot.id, "running")
    return snapshot


def extras(server):
    server.enable_backup().wait_until_finished()
    server.reload()
    assert server.backup_window
    server.disable_backup().wait_until_finished()
    answer = server.enable_rescue(type="linux64")
    answer.action.wait_until_finished()
    server.reload()
    assert answer.root_password and server.rescue_enabled and server.backup_window is None
    server.disable_rescue().wait_until_finished()
    iso = client.isos.get_all()[0]
    server.attach_iso(iso).wait_until_finished()
    server.reload()
    assert server.iso.id == iso.id and not server.rescue_enabled
    server.detach_iso().wait_until_finished()
    console = server.request_console()
    console.action.wait_until_finished()
    assert console.wss_url.startswith("wss://") and console.password
    fresh = server.reset_password()
    fresh.action.wait_until_finished()
    assert fresh.root_password


def names(server):
    ip = server.public_net.ipv4.ip
    own = server.public_net.ipv4.dns_ptr
    server.change_dns_ptr(ip=ip, dns_ptr="one.example.com").wait_until_finished()
    server.reload()
    assert server.public_net.ipv4.dns_ptr == "one.example.com"
    server.change_dns_ptr(ip=ip, dns_ptr=None).wait_until_finished()
    server = server.update(name="uno", labels={"pool": "b"})
    assert (server.name, server.labels, server.iso) == ("uno", {"pool": "b"}, None)
    assert server.public_net.ipv4.dns_ptr == own
    assert client.servers.get_by_name("one") is None
    assert client.servers.get_by_name("uno").id == server.id


server = born()
all_of_it_is_there(server)
the_others_know([server.id])
power(server)
another_type(server)
snapshot = another_system(server)
extras(server)
names(server)
server.shutdown().wait_until_finished()

server.delete().wait_until_finished()
gone(server.reload)
gone(server.delete)
the_others_know([])
assert client.servers.get_all() == [] and client.primary_ips.get_all() == []
assert client.images.get_by_id(snapshot.id).created_from.id == server.id
