"""Copies rows of RESULTS.md into the README. A row of the README is a copy if a table of RESULTS.md has the same head
and a row with the same first two cells.

    readme_rows.py            writes README.md
    readme_rows.py --check    exit code 1 if a row differs
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, "..", "..", "README.md")
RESULTS = os.path.join(HERE, "RESULTS.md")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rows(text):
    """Yields (place, head, row) for each row of each table; place is the line's number."""
    head = None
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = line
        elif not line.startswith("|---"):
            yield place, head, line


def key(head, row):
    return head, *row.split("|")[1:3]


def copied(readme, results):
    """Returns the README with the rows of RESULTS.md."""
    measured = {key(head, row): row for _, head, row in rows(results)}
    lines = readme.split("\n")
    for place, head, row in rows(readme):
        lines[place] = measured.get(key(head, row), row)
    return "\n".join(lines)


def write():
    text = copied(read(README), read(RESULTS))
    with open(README, "w", encoding="utf-8") as file:
        file.write(text)


def faults():
    readme = read(README)
    right = copied(readme, read(RESULTS)).split("\n")
    return [f"README.md:{place}: not the row of tests/papers/RESULTS.md, which is\n    {good}"
            for place, (line, good) in enumerate(zip(readme.split("\n"), right), 1) if line != good]


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        found = faults()
        print("\n".join(found), end="\n" if found else "")
        sys.exit(1 if found else 0)
    write()
