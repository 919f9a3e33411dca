"""Actions: polled until they end, listed by what they were done to, and there after it is gone."""

from project import client, done, gone, server, FALKENSTEIN, SMALL, UBUNTU

answer = client.servers.create(name="one", server_type=SMALL, image=UBUNTU, location=FALKENSTEIN)
creation = answer.action
assert (creation.command, creation.status, creation.finished, creation.error) == ("create_server", "running", None, None)
assert 0 <= creation.progress < 100
one = done(answer)
two = server("two")
for press in (one.power_off, one.power_on, two.power_off):
    press().wait_until_finished()

mine = one.get_actions(sort=["id:desc"])
assert [action.command for action in mine][:3] == ["start_server", "stop_server", "start_server"]
assert mine[-1].command == "create_server"
assert all({"id": one.id, "type": "server"} in action.resources for action in mine)
assert [action.id for action in mine] == sorted((action.id for action in mine), reverse=True)
everyone = client.servers.actions.get_all(sort=["id"])
assert {action.id for action in mine} < {action.id for action in everyone}
assert client.servers.actions.get_by_id(creation.id).status == "success"
assert client.servers.actions.get_all(status=["running", "error"]) == []
page = one.get_actions_list(status=["success"], page=2, per_page=1)
assert len(page.actions) == 1 and page.meta.pagination.total_entries == len(mine)

deletion = one.delete()
assert deletion.command == "delete_server"
deletion.wait_until_finished()
assert client.actions.get_by_id(creation.id).status == "success"
assert client.actions.get_by_id(deletion.id).resources[0]["id"] == one.id
gone(lambda: client.actions.get_by_id(10**12))
