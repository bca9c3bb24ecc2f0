"""Checks that the #includes of each folder have no cycle.

    circles.py FOLDER ...       checks each folder by itself; exit code 1 if there is a cycle

A header and its .c count as one file: its includes are those of both.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include "(.+)\.h"', re.M)


def includes(folder):
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.[ch]")):
        name = str(path.with_suffix(""))
        found.setdefault(name, set()).update(set(INCLUDE.findall(path.read_text())) - {name})
    return found


def circle(found):
    """Returns a cycle as a list of names, or None. Removes files that include no remaining file until there
    are none; the remaining files contain a cycle."""
    left = {name: others & found.keys() for name, others in found.items()}
    while done := {name for name, others in left.items() if not others}:
        left = {name: others - done for name, others in left.items() if name not in done}
    if not left:
        return None
    way = [next(iter(left))]
    while way[-1] not in way[:-1]:
        way.append(min(left[way[-1]]))
    return way[way.index(way[-1]):]


def main():
    ways = [way for folder in sys.argv[1:] if (way := circle(includes(folder)))]
    for way in ways:
        print("circles: " + " includes ".join(way))
    return bool(ways)


if __name__ == "__main__":
    sys.exit(main())
