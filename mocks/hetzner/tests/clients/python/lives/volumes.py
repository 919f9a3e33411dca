"""Volumes: made alone and with a server, attached, detached, made larger."""

from hcloud.locations import Location
from project import FALKENSTEIN, client, done, gone, refused, server

one = server("one")
two = server("two")

answer = client.volumes.create(name="data", size=10, location=FALKENSTEIN, format="xfs", labels={"for": "data"})
assert answer.action.command == "create_volume" and answer.next_actions == []
data = done(answer)
assert (data.name, data.size, data.status, data.format) == ("data", 10, "available", "xfs")
assert (data.server, data.location.name, data.labels) == (None, "fsn1", {"for": "data"})
assert data.linux_device == f"/dev/disk/by-id/scsi-0HC_Volume_{data.id}"

answer = client.volumes.create(name="logs", size=20, server=one, automount=False)
assert [action.command for action in answer.next_actions] == ["attach_volume"]
logs = done(answer)
assert (logs.server.id, logs.location.name) == (one.id, one.location.name)

data.attach(one, automount=False).wait_until_finished()
one.reload()
assert sorted(volume.id for volume in one.volumes) == [data.id, logs.id]
with refused("invalid_input"):
    client.volumes.create(name="small", size=9, location=FALKENSTEIN)
with refused("invalid_input"):
    data.resize(5)
data.resize(50).wait_until_finished()
data.reload()
assert data.size == 50

data.detach().wait_until_finished()
data.attach(two).wait_until_finished()
data.reload()
assert data.server.id == two.id
far = done(client.volumes.create(name="far", size=10, location=Location(name="hel1")))
with refused(None):
    far.attach(one)

two.delete().wait_until_finished()
data.reload()
assert data.server is None
data.change_protection(delete=True).wait_until_finished()
with refused("protected"):
    data.delete()
data.change_protection(delete=False).wait_until_finished()
assert data.update(name="old", labels={}).name == "old"
assert {volume.name for volume in client.volumes.get_all(status=["available"])} == {"far", "logs", "old"}
assert {action.command for action in data.get_actions()} >= {"create_volume", "attach_volume", "resize_volume"}
assert data.delete()
gone(data.reload)
