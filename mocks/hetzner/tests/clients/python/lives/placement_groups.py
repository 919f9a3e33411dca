"""A placement group spreads ten servers and no more."""

from project import FALKENSTEIN, SMALL, UBUNTU, client, done, gone, refused

group = done(client.placement_groups.create(name="apart", type="spread", labels={"a": "b"}))
assert (group.type, group.servers, group.labels) == ("spread", [], {"a": "b"})
with refused("uniqueness_error"):
    client.placement_groups.create(name="apart", type="spread")
with refused("invalid_input"):
    client.placement_groups.create(name="close", type="pack")


def create(name, **more):
    return client.servers.create(name=name, server_type=SMALL, image=UBUNTU, location=FALKENSTEIN, **more)


answers = [create(f"member-{number}", placement_group=group) for number in range(10)]
members = [done(answer) for answer in answers]
group.reload()
assert sorted(group.servers) == sorted(member.id for member in members)
with refused("placement_group_member_limit_reached", str(group.id), "10"):
    create("eleventh", placement_group=group)
assert client.servers.get_by_name("eleventh") is None

first = members[0]
first.remove_from_placement_group().wait_until_finished()
first.reload()
assert first.placement_group is None
with refused("server_not_stopped"):
    first.add_to_placement_group(group)
first.power_off().wait_until_finished()
first.add_to_placement_group(group).wait_until_finished()
first.reload()
assert first.placement_group.id == group.id
with refused("already_in_placement_group"):
    first.add_to_placement_group(group)

for member in members[1:]:
    member.delete().wait_until_finished()
group.reload()
assert group.servers == [first.id]
first.remove_from_placement_group().wait_until_finished()
assert group.update(name="far", labels={}).name == "far"
assert [one.id for one in client.placement_groups.get_all(name="far")] == [group.id]
assert group.delete()
gone(group.reload)
