"""Pages: each object is on one of them, once, and what is asked too much of them is refused or cut."""

from project import client, refused

names = [f"group-{number:02}" for number in range(63)]
for name in names:
    client.placement_groups.create(name=name, type="spread", labels={"odd": str(int(name[-2:]) % 2)})

assert [group.name for group in client.placement_groups.get_all()] == names
assert [group.name for group in client.placement_groups.get_all(sort=["name:desc"])] == names[::-1]
assert [group.name for group in client.placement_groups.get_all(label_selector="odd=1")] == names[1::2]

first = client.placement_groups.get_list()
about = first.meta.pagination
assert (len(first.placement_groups), about.page, about.per_page) == (25, 1, 25)
assert (about.previous_page, about.next_page, about.last_page, about.total_entries) == (None, 2, 3, 63)
last = client.placement_groups.get_list(page=3)
about = last.meta.pagination
assert [group.name for group in last.placement_groups] == names[50:]
assert (about.previous_page, about.next_page, about.last_page) == (2, None, 3)
tens = [client.placement_groups.get_list(page=page, per_page=10).placement_groups for page in range(1, 8)]
assert [group.name for ten in tens for group in ten] == names
beyond = client.placement_groups.get_list(page=9)
assert beyond.placement_groups == [] and beyond.meta.pagination.total_entries == 63

found = client.placement_groups.get_list(name="group-07")
assert [group.name for group in found.placement_groups] == ["group-07"]
assert (found.meta.pagination.last_page, found.meta.pagination.total_entries) == (1, 1)
empty = client.placement_groups.get_list(name="nobody").meta.pagination
assert (empty.total_entries, empty.next_page, empty.page) == (0, None, 1)
for page, per_page in ((0, 10), (-1, 10), (1, 0), (1, -5)):
    with refused("invalid_input"):
        client.placement_groups.get_list(page=page, per_page=per_page)
with refused("invalid_input"):
    client.placement_groups.get_all(sort=["colour"])
