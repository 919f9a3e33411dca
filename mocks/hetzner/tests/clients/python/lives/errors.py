"""Refusals: their codes, details and statuses, as the client gives them to its user."""

from hcloud import APIException
from hcloud.images import Image
from hcloud.locations import Location
from hcloud.server_types import ServerType
from project import FALKENSTEIN, SMALL, UBUNTU, client, client_of, refused, server


def create(**more):
    settings = {"name": "one", "server_type": SMALL, "image": UBUNTU, "location": FALKENSTEIN} | more
    return client.servers.create(**settings)


def fields(no):
    return {field["name"]: field["messages"] for field in no.details["fields"]}


with refused("unauthorized", "unable to authenticate"):
    client_of("somebody-else").servers.get_all()
with refused("not_found"):
    client.servers.get_by_id(4711)
with refused("not_found"):
    client.request("GET", "/nothing/here")
with refused("method_not_allowed"):
    client.request("PATCH", "/servers")
with refused("json_error"):
    client.request("POST", "/servers", data="{")

for wrong, field in [
    ({"name": ""}, "name"),
    ({"name": "no_host_name"}, "name"),
    ({"name": "-a"}, "name"),
    ({"server_type": ServerType(name="cx9999")}, "server_type"),
    ({"image": Image(name="windows-95")}, "image"),
    ({"location": Location(name="moon1")}, "location"),
    ({"user_data": "x" * 32769}, "user_data"),
    ({"labels": {"a b": "c"}}, "labels"),
]:
    try:
        create(**wrong)
    except APIException as no:
        assert no.code == "invalid_input", (wrong, no)
        assert any(name.startswith(field) for name in fields(no)), (field, no.details)
        assert all(messages for messages in fields(no).values()), no.details
    else:
        raise AssertionError(f"taken: {wrong}")
assert client.servers.get_all() == []

try:
    client.request("POST", "/servers", json={"name": 7, "labels": []})
except APIException as no:
    assert no.code == "invalid_input" and {"name", "server_type", "image"} <= set(fields(no)), no.details

one = server("one")
try:
    create()
except APIException as no:
    assert (no.code, no.message) == ("uniqueness_error", "server name is already used"), no
    assert no.details["fields"] == [{"name": "name"}], no.details
with refused("uniqueness_error"):
    server("two").update(name="one")
with refused("invalid_input"):
    create(name="arm", server_type=ServerType(name="cax11"), image=client.images.get_by_name_and_architecture("debian-12", "x86"))

one.change_protection(delete=True, rebuild=True).wait_until_finished()
with refused("protected"):
    one.delete()
with refused("protected"):
    one.rebuild(UBUNTU)
one.change_protection(delete=False, rebuild=False).wait_until_finished()
