"""SSH keys: found by name, by fingerprint, by label."""

import hashlib

from project import client, gone, public_key, refused

blob, text = public_key("one")
one = client.ssh_keys.create(name="one", public_key=text, labels={"of": "one"})
assert one.public_key == text and one.labels == {"of": "one"}
assert one.fingerprint.replace(":", "") == hashlib.md5(blob).hexdigest()
two = client.ssh_keys.create(name="two", public_key=public_key("two")[1])

with refused("uniqueness_error"):
    client.ssh_keys.create(name="one", public_key=public_key("three")[1])
with refused("uniqueness_error"):
    client.ssh_keys.create(name="three", public_key=text)
with refused("invalid_input"):
    client.ssh_keys.create(name="four", public_key="ssh-ed25519 not-a-key")

assert client.ssh_keys.get_by_fingerprint(one.fingerprint).id == one.id
assert client.ssh_keys.get_by_name("two").id == two.id
assert client.ssh_keys.get_by_name("three") is None
assert [found.id for found in client.ssh_keys.get_all(label_selector="!of")] == [two.id]
assert one.update(name="uno", labels={}).name == "uno"
assert one.delete() and two.delete()
gone(one.reload)
assert client.ssh_keys.get_all() == []
