#!/usr/bin/env python3
"""Runs one test program, records the tests that it skipped, and prints its duration.

    run.py PROGRAM [NAME]

Shows what the program prints. For each test that is skipped, in whole or in part, NAME.skips
has a line: the test's name, a tab, and the reason, which the test prints (tests/expect.h). The
name is `*` if the reason is printed outside of a test. Without skips there is no such file. NAME
is PROGRAM unless the program runs for another build's daemon. PROGRAM.threads of an earlier run
is removed (tests/threads.c).
Exits as the program does, or with 1 if a test is skipped without a reason.
"""

import os
import re
import resource
import select
import subprocess
import sys
import time
import tty

OUTSIDE = "*"
EVENT = re.compile(r"^\[ RUN      \] (?P<begun>\w+)$|^SKIPPED[^:]*: (?P<reason>.*)$|"
                   r"^\[ (?P<outcome> {6}OK| FAILED | {1,2}SKIPPED|  ERROR  ) \] (?P<ended>\w+)$", re.M)


def run(program):
    """Returns the exit code and what was printed. The program writes to a terminal, so that
    its lines arrive while it runs. Does not wait for daemons that the program leaves behind."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    process = subprocess.Popen([program], stdout=theirs)
    os.close(theirs)
    printed = b""
    while True:
        has_ended = process.poll() is not None
        part = b""
        if select.select([ours], [], [], 0 if has_ended else 0.05)[0]:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other end of the terminal is closed
                process.wait()
        sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        printed += part
        if has_ended and not part:
            return process.returncode, printed.decode("utf-8", "replace")


def skips(printed):
    """Returns the (test, reason) pairs, each once, and the tests that are skipped without one."""
    test, found, silent = OUTSIDE, [], []
    for event in EVENT.finditer(printed):
        if event["begun"]:
            test = event["begun"]
        elif event["reason"]:
            if (test, event["reason"]) not in found:
                found.append((test, event["reason"]))
        elif event["ended"] == test:
            if "SKIPPED" in event["outcome"] and not any(name == test for name, _ in found):
                silent.append(test)
            test = OUTSIDE
    return found, silent


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def main(program, name=None):
    name = name or program
    remove(program + ".threads")
    start = time.monotonic()
    code, printed = run(program)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{name}: {time.monotonic() - start:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of a processor")
    found, silent = skips(printed)
    path = name + ".skips"
    remove(path)
    if found:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{test}\t{reason}\n" for test, reason in found)
    for test in silent:
        print(f"{name}: {test} is skipped and does not say why", file=sys.stderr)
    if code < 0:
        print(f"{name} was ended by signal {-code}", file=sys.stderr)
    return 1 if code < 0 or (code == 0 and silent) else code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
