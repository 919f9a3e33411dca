"""Images: those there are, and those made of a server."""

from project import client, done, gone, refused, server

found = client.images.get_all(name="ubuntu-24.04")
assert {image.architecture for image in found} == {"x86", "arm"}
assert len({image.id for image in found}) == len(found)
image = client.images.get_by_name_and_architecture("ubuntu-24.04", "arm")
assert (image.type, image.status, image.os_flavor, image.rapid_deploy) == ("system", "available", "ubuntu", True)
assert client.images.get_by_name_and_architecture("no-such-image", "x86") is None
with refused("not_found"):
    client.images.get_by_id(10**12)

one = server("one", labels={"role": "golden"})
old = done(one.create_image(description="old", labels={"os": "mine"}))
new = done(one.create_image(description="new", labels={"os": "mine"}))
one.enable_backup().wait_until_finished()
backup = done(one.create_image(type="backup"))
assert (backup.type, backup.bound_to.id) == ("backup", one.id)
found = client.images.get_all(
    type=["snapshot"], architecture=["x86"], label_selector="os=mine", sort=["created:desc", "id:desc"]
)
assert [image.id for image in found] == [new.id, old.id]
assert [image.id for image in client.images.get_all(bound_to=[str(one.id)])] == [backup.id]
assert {image.type for image in client.images.get_all(type=["snapshot", "backup"])} == {"snapshot", "backup"}

copy = server("copy", image=new)
assert copy.image.id == new.id
assert old.update(description="older", labels={"os": "none"}).description == "older"
assert backup.update(type="snapshot").type == "snapshot"
old.change_protection(delete=True).wait_until_finished()
with refused("protected"):
    old.delete()
old.change_protection(delete=False).wait_until_finished()
one.delete().wait_until_finished()
assert old.delete() and new.delete()
gone(old.reload)
with refused("invalid_input"):
    server("late", image=new)
