"""SSH keys: found by name, by fingerprint, by label."""

import base64
import hashlib

from project import client, gone, refused


def key(seed):
    """A well-formed ed25519 public key of nobody, and its MD5 fingerprint."""
    kind, point = b"ssh-ed25519", hashlib.sha256(seed).digest()
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in (kind, point))
    text = f"ssh-ed25519 {base64.b64encode(blob).decode()} {seed.decode()}@example.com"
    return text, hashlib.md5(blob).hexdigest()


text, digest = key(b"one")
one = client.ssh_keys.create(name="one", public_key=text, labels={"of": "one"})
assert one.public_key == text and one.labels == {"of": "one"}
assert one.fingerprint.replace(":", "") == digest
two = client.ssh_keys.create(name="two", public_key=key(b"two")[0])

with refused("uniqueness_error"):
    client.ssh_keys.create(name="one", public_key=key(b"three")[0])
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
