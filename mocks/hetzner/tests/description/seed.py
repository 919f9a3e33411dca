"""Makes one object of every kind, and tells schemathesis their ids: seed.py ENDPOINT TOKEN > schemathesis.toml

Without objects nearly every answer would be a 404, and little would be compared.
"""

import json
import sys
import time
from urllib.request import Request, urlopen

ENDPOINT, TOKEN = sys.argv[1:]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f nobody@example.com"
WITH_ACTIONS = (
    "certificates",
    "firewalls",
    "floating_ips",
    "images",
    "load_balancers",
    "networks",
    "primary_ips",
    "servers",
    "volumes",
)


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(ENDPOINT + path, data=data, method=method, headers=headers)) as answer:
        return json.load(answer)


def make(shelf, **body):
    """Gives the id of what was made, once all its actions have ended."""
    answer = call("POST", f"/{shelf}", body)
    settle()
    return answer[shelf.removesuffix("s")]["id"]


def settle():
    for shelf in WITH_ACTIONS:
        while call("GET", f"/{shelf}/actions?status=running")["actions"]:
            time.sleep(0.05)


subnet = {"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.1.0/24"}
web = {"protocol": "http", "listen_port": 80, "destination_port": 80}
rule = {"direction": "in", "protocol": "tcp", "port": "22", "source_ips": ["0.0.0.0/0"]}
ids = {
    "ssh_keys": make("ssh_keys", name="key", public_key=KEY),
    "networks": make("networks", name="inside", ip_range="10.0.0.0/16", subnets=[subnet]),
    "volumes": make("volumes", name="data", size=10, location="fsn1"),
    "firewalls": make("firewalls", name="wall", rules=[rule]),
    "placement_groups": make("placement_groups", name="apart", type="spread"),
    "primary_ips": make("primary_ips", name="kept", type="ipv4", assignee_type="server", location="fsn1"),
}
ids["servers"] = make(
    "servers",
    name="one",
    server_type="cx23",
    image="ubuntu-24.04",
    location="fsn1",
    ssh_keys=[ids["ssh_keys"]],
    networks=[ids["networks"]],
    volumes=[ids["volumes"]],
    firewalls=[{"firewall": ids["firewalls"]}],
    placement_group=ids["placement_groups"],
)
one = {"type": "server", "server": {"id": ids["servers"]}}
ids["floating_ips"] = make("floating_ips", type="ipv4", name="front", server=ids["servers"])
ids["load_balancers"] = make(
    "load_balancers",
    name="balancer",
    load_balancer_type="lb11",
    location="fsn1",
    network=ids["networks"],
    services=[web],
    targets=[one, {"type": "label_selector", "label_selector": {"selector": "a=b"}}],
)
ids["certificates"] = make("certificates", name="own", type="managed", domain_names=["example.com"])
ids["images"] = call("POST", f"/servers/{ids['servers']}/actions/create_image", {"type": "snapshot"})["image"]["id"]
settle()
for shelf in ("server_types", "load_balancer_types", "locations", "isos"):
    ids[shelf] = call("GET", f"/{shelf}")[shelf][0]["id"]

for shelf, id in ids.items():
    actions = call("GET", f"/{shelf}/{id}/actions")["actions"] if shelf in WITH_ACTIONS else []
    known = {"path.id": id} | ({"path.action_id": actions[0]["id"]} if actions else {})
    settings = ", ".join(f'"{name}" = {value}' for name, value in known.items())
    print(f"[[operations]]\ninclude-path-regex = '^/{shelf}/\\{{id\\}}'\nparameters = {{ {settings} }}\n")
