"""Uploaded certificates, and services that use them."""

from hcloud.load_balancer_types import LoadBalancerType
from hcloud.load_balancers import LoadBalancerService, LoadBalancerServiceHttp
from project import FALKENSTEIN, client, done, gone, refused

# Of nobody, for a.example.com and *.b.example.com, from 2020 to 2120.
CERTIFICATE = open("pair.crt").read()
KEY = open("pair.key").read()

uploaded = client.certificates.create(name="pair", certificate=CERTIFICATE, private_key=KEY, labels={"a": "b"})
assert (uploaded.type, uploaded.name, uploaded.labels) == ("uploaded", "pair", {"a": "b"})
assert uploaded.certificate.strip() == CERTIFICATE.strip() and uploaded.fingerprint
assert uploaded.domain_names == ["a.example.com", "*.b.example.com"]
assert (uploaded.not_valid_before.year, uploaded.not_valid_after.year) == (2020, 2120)
with refused("uniqueness_error"):
    client.certificates.create(name="pair", certificate=CERTIFICATE, private_key=KEY)
with refused("invalid_input"):
    client.certificates.create(name="none", certificate="nothing", private_key=KEY)

https = LoadBalancerService(
    protocol="https",
    listen_port=443,
    destination_port=80,
    http=LoadBalancerServiceHttp(certificates=[uploaded], redirect_http=True),
)
balancer = done(
    client.load_balancers.create(
        name="tls", load_balancer_type=LoadBalancerType(name="lb11"), location=FALKENSTEIN, services=[https]
    )
)
assert [used.id for used in balancer.services[0].http.certificates] == [uploaded.id]
with refused("service_error", "still in use"):
    uploaded.delete()
balancer.delete()
assert client.certificates.get_all(label_selector="a")[0].id == uploaded.id
assert uploaded.update(name="other", labels={}).name == "other"
assert uploaded.delete()
gone(uploaded.reload)
