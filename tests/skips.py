#!/usr/bin/env python3
"""Lists the tests that were skipped, and checks that skips.list allows them.

    skips.py FOLDER [WORD]        lists the skips of the programs in FOLDER whose path has the word
    skips.py --check FOLDER...    the same for several folders; exits with 1 if skips.list lacks one of them

FOLDER is build/MODE, whose programs tests/run.py has run, or build/ci, where .ci/run has written
the steps that were not run (summary) and the output of the checks (checks.log).
"""

import fnmatch
import glob
import os
import re
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "skips.list")
STEP = re.compile(r"^==== ([^:]+): ")
# schemathesis ends with "stateful testing did not run (N operations)" if its minutes end before: no skip.
NOT_RUN = re.compile(r"(?<!did )\bnot run(: | \(|$)")


def of_programs(folder, word):
    """Yields (where, test, reason) of the programs that still have a source."""
    mode = os.path.basename(folder)
    for path in sorted(glob.glob(f"{folder}/tests/**/*.skips", recursive=True)):
        program = os.path.relpath(path, f"{folder}/tests")[:-len(".skips")]
        if word in path and os.path.exists(f"tests/{program}.c"):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    yield (f"{mode}/{program}", *line.rstrip("\n").split("\t", 1))


def of_steps(folder):
    """Yields (where, test, reason) of checks that were skipped entirely or partly."""
    step, told = "", set()
    with open(f"{folder}/checks.log", encoding="utf-8", errors="replace") as file:
        for line in file:
            if STEP.match(line):
                step = STEP.match(line)[1]
            elif NOT_RUN.search(line):
                told.add(step)
                yield f"ci/{step}", "*", line.strip()
    with open(f"{folder}/summary", encoding="utf-8") as file:
        for line in file:
            name = line[:26].strip()
            if line[26:].split()[:2] == ["not", "run"] and name not in told:
                yield f"ci/{name}", "*", "exit code 77"


def rows():
    """Returns the (where, reason, why) of the list."""
    with open(LIST, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and line[0] != "#"]
    found = [tuple(field.strip() for field in line.split(" | ")) for line in lines]
    for row in found:
        if len(row) != 3 or not all(row):
            sys.exit(f"{LIST}: not `where | reason | why`: {' | '.join(row)}")
    return found


def is_listed(skip, allowed):
    where, _, reason = skip
    return any(fnmatch.fnmatchcase(where, place) and fnmatch.fnmatchcase(reason, said)
               for place, said, _ in allowed)


def show(skips):
    for (where, test, reason) in skips:
        print(f"  {where}{'' if test == '*' else ' ' + test}: {reason}")


def check(folders):
    """Prints the skipped tests. Returns 1 if the list lacks one of them."""
    allowed, skips = rows(), []
    for folder in folders:
        is_ci = os.path.exists(f"{folder}/summary")
        skips += of_steps(folder) if is_ci else of_programs(folder, "")
    bad = [skip for skip in skips if not is_listed(skip, allowed)]
    print(f"{len(skips)} skipped, {len(bad)} of them not on {os.path.relpath(LIST)}")
    show(skip for skip in skips if skip not in bad)
    if bad:
        print("not on the list:")
        show(bad)
    return 1 if bad else 0


def main(words):
    if words[0] == "--check":
        return check([folder.rstrip("/") for folder in words[1:]])
    skips = list(of_programs(words[0].rstrip("/"), words[1] if len(words) > 1 else ""))
    print(f"skipped: {len(skips) or 'nothing'}")
    show(skips)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
