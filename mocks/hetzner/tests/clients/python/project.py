"""The project that the test made for a script, seen through hcloud-python.

A script is one file of `lives/`: it begins with an empty project, and ends with an exit code.
"""

import base64
import hashlib
import os
from contextlib import contextmanager

from hcloud import APIException, Client
from hcloud.images import Image
from hcloud.locations import Location
from hcloud.server_types import ServerType

FALKENSTEIN = Location(name="fsn1")
SMALL = ServerType(name="cx23")
LARGE = ServerType(name="cx33")
UBUNTU = Image(name="ubuntu-24.04")


def client_of(token):
    """Actions last some hundredths of a second here, so they are asked about that often."""
    return Client(token=token, api_endpoint=os.environ["HCLOUD_ENDPOINT"], poll_interval=0.02, timeout=10)


client = client_of(os.environ["HCLOUD_TOKEN"])


def public_key(seed):
    """A well-formed ed25519 key of nobody: its bytes, and as it stands in a file."""
    parts = (b"ssh-ed25519", hashlib.sha256(seed.encode()).digest())
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return blob, f"ssh-ed25519 {base64.b64encode(blob).decode()} {seed}@example.com"


def done(*answers):
    """Waits for all actions an answer names, and gives the object in it, as it is afterwards."""
    thing = None
    for answer in answers:
        for name in ("action", "actions", "next_actions"):
            found = getattr(answer, name, None) or []
            for action in found if isinstance(found, list) else [found]:
                action.wait_until_finished()
                assert (action.status, action.progress, action.error) == ("success", 100, None), action
                assert action.finished >= action.started
        made = [getattr(answer, name) for name in MADE if hasattr(answer, name)]
        for thing in made:
            thing.reload()
    return thing


MADE = ("server", "volume", "firewall", "placement_group", "primary_ip", "floating_ip", "load_balancer", "image")


def server(name, **more):
    """A running server with as little as possible."""
    settings = {"server_type": SMALL, "image": UBUNTU, "location": FALKENSTEIN} | more
    return done(client.servers.create(name=name, **settings))


@contextmanager
def refused(code, *words):
    """The API says no, with this code if there is one, and a message that has these words."""
    try:
        yield
    except APIException as no:
        assert code in (no.code, None), f"{no.code}, expected {code}: {no.message}"
        assert all(word in no.message for word in words), f"{no.message!r} does not say {words}"
        assert no.correlation_id, "no correlation id"
    else:
        raise AssertionError(f"taken, expected {code}")


def gone(read):
    """It cannot be read again."""
    with refused("not_found"):
        read()
