"""Lays the corrections of an overlay over a published description: apply.py DESCRIPTION OVERLAY > CORRECTED

A correction names places by a path with wildcards, and says what is done there:
`drop` takes keys (or list entries) away, `put` lays values over what is there, `rename` gives keys other names.
One that finds no place has been overtaken by the description, and that is an error.
"""

import json
import sys
from fnmatch import fnmatchcase

import yaml


def places(node, path):
    """Everything that a path such as `components/schemas/*/required` leads to; `**` is any number of steps."""
    if not path:
        yield node
        return
    head, rest = path[0], path[1:]
    if head == "**":
        yield from places(node, rest)
        for child in children(node).values():
            yield from places(child, path)
        return
    for key, child in children(node).items():
        if fnmatchcase(key, head):
            yield from places(child, rest)


def children(node):
    """Keys are compared as texts: the statuses of a YAML document are numbers. A slash in a key is a `~1`."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return {str(key).replace("/", "~1"): child for key, child in pairs}


def correct(node, correction):
    """Whether anything changed here."""
    before = json.dumps(node, default=str)
    if isinstance(node, list):
        node[:] = [entry for entry in node if entry not in correction.get("drop", ())]
    elif isinstance(node, dict):
        for key in correction.get("drop", ()):
            node.pop(key, None)
        for old, new in correction.get("rename", {}).items():
            if old in node:
                node[new] = node.pop(old)
        node.update(correction.get("put", {}))
    return json.dumps(node, default=str) != before


def main(description, overlay):
    with open(description) as file:
        document = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    with open(overlay) as file:
        corrections = yaml.safe_load(file)
    idle = []
    for correction in corrections:
        unknown = set(correction) - {"at", "why", "drop", "put", "rename"}
        assert not unknown, f"{correction['at']}: there is no {unknown}"
        found = list(places(document, correction["at"].split("/")))
        if not any([correct(node, correction) for node in found]):
            idle.append(correction["at"])
    json.dump(document, sys.stdout, default=str)
    if idle:
        sys.exit(f"these change nothing: {', '.join(idle)}")


main(*sys.argv[1:])
