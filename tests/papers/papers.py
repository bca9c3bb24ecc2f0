"""Reproduces the papers' experiments through the HTTP API on real data.

    papers.py EPSILOND SHARED [SECTION ...]

Writes RESULTS.md in this folder. With sections named, runs only them and keeps the others as they are
in RESULTS.md. An experiment whose data are missing says so and is left out.
"""

import os
import resource
import subprocess
import sys
import time

import adp
import averaging
import boosting
import dcsgd
import dcsgd_tables
import dicesgd
import diff2
import epsilon
import optimizers
import overview
import readme_rows
import surnames
import value_clip
from trials import Missing, Trials

SECTIONS = {"epsilon": epsilon, "value_clip": value_clip, "dicesgd": dicesgd, "diff2": diff2,
            "boosting": boosting, "adp": adp, "dcsgd": dcsgd, "dcsgd_tables": dcsgd_tables, "averaging": averaging,
            "optimizers": optimizers, "surnames": surnames}  # the cheap ones first
HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "RESULTS.md")
HEAD = """# The papers' experiments, repeated

Written by `make papers`; what each table holds and how it is run is in [`README.md`](README.md).
Ours are medians of three jobs through the HTTP API, with the range of the three in brackets;
noise is never the same twice, so they move from run to run by about that range. Accuracies are
in percent, on public test sets. Epsilon is the accountant's, add or remove one record; for DIFF2,
replace one.

"""


def standing():
    """Returns the sections of RESULTS.md by their titles."""
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS) as file:
        parts = file.read().split("\n## ")[1:]
    return {part.split("\n", 1)[0]: "## " + part.rstrip() + "\n" for part in parts}


def seconds():
    """Returns the processor time of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(section, binary, shared):
    """Returns the section's text; its last line says how long it took."""
    start, before = time.monotonic(), seconds()
    lines = [f"## {section.TITLE}", ""]
    with Trials(binary, shared) as trials:
        for line in section.run(trials):
            print(line, flush=True)
            lines.append(line)
    took = seconds() - before, time.monotonic() - start
    lines += ["", f"Processor time {took[0]:.0f} s, elapsed {took[1]:.0f} s.", ""]
    return "\n".join(lines)


def write(title, text):
    """Replaces one section, and the README's copies of its rows; the others stay as they are."""
    texts = {**standing(), title: text}
    with open(RESULTS, "w") as file:
        file.write(HEAD + overview.text() +
                   "\n".join(texts[section.TITLE] for section in SECTIONS.values() if section.TITLE in texts))
    readme_rows.write()


def main(binary, shared, *names):
    for name in names or SECTIONS:
        section = SECTIONS[name]
        print(f"\n## {section.TITLE}\n", flush=True)
        try:
            write(section.TITLE, run(section, binary, shared))
        except Missing as missing:
            print(f"papers: {name} is not run: {missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
