"""Checks that every cited page and section exists, and that nothing cites what a clone does not contain.

A citation is a page's name, which may be followed by a section: docs/noise.md 2.4, docs/privacy.md P6. The page is
searched in the folder of the citing file, at the root, and in docs/. A section is a heading that begins with its number
or with its rule's name. A source file that a page names by its path, `service/runs/runner` or `base/principal.h`, must
exist, so that descriptions of the program stay correct. Lines over 120 columns are refused in Markdown, except in
tables and code.

    citations.py        checks every tracked file of the working directory's repository; exit code 1 on a fault
"""
import pathlib
import re
import subprocess
import sys

WIDTH = 120
CITED = re.compile(r"(?P<page>[\w./-]*[\w-]\.md)(?P<link>\))?(?:,)? ?(?P<section>(?:[PE]\d+|\d+(?:\.\d+)*)\b)?")
NAMED = re.compile(r"`((?:service|api|engine|accountant|store|base|mpi|e2e|audit|bench)/[a-z0-9_/]+)(\.[ch])?`")
TESTS = pathlib.Path("tests")
BELOW_TESTS = TESTS / "papers"  # its pages name tests by their paths below tests/
FOREIGN = [
    (re.compile(r"\b[Ii]ssue (?:#|number )?\d+"), "an issue by its number"),
    (re.compile(r"\.\./shared/(?!data|vectors)\w"), "a path outside the repository"),
    (re.compile(r"(?<![\w.])/(?:work|home)/\w"), "a path of one machine"),
]
TEXTS = {".c", ".h", ".md", ".py", ".yaml", ".csv", ""}


def tracked():
    names = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, names):
        path = pathlib.Path(name)
        if path.suffix in TEXTS and "corpus" not in path.parts and path.name not in ("LICENSE", "citations.py"):
            yield path


def find(page, citing):
    for place in (citing.parent / page, pathlib.Path(page), pathlib.Path("docs") / page):
        if place.is_file():
            return place
    return None


def sections(page, known={}):
    if page not in known:
        known[page] = set()
        for line in page.read_text().split("\n"):
            heading = re.match(r"#+ ([PE]?\d+(?:\.\d+)*|[A-Z]\d+)\b", line) or re.match(r"\* \*\*([PE]\d+)\*\*", line)
            if heading:
                known[page].add(heading[1])
            row = re.match(r"\| (E\d+) \|", line) or re.match(r"\*\*(\d+(?:\.\d+)+) ", line)
            if row:
                known[page].add(row[1])
    return known[page]


def faults(path):
    code = False
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        if path.suffix == ".md":
            code ^= line.lstrip().startswith("```")
            if len(line) > WIDTH and not code and not line.lstrip().startswith(("|", "#")):
                yield number, f"{len(line)} columns"
        for pattern, what in FOREIGN:
            if pattern.search(line):
                yield number, what
        if path.suffix == ".md":
            roots = [pathlib.Path(), TESTS] if path.parent == BELOW_TESTS else [pathlib.Path()]
            for stem, suffix in NAMED.findall(line):
                ends = [suffix] if suffix else ["", ".c", ".h"]
                if not any((root / (stem + end)).exists() for root in roots for end in ends):
                    yield number, f"{stem}{suffix} is not in the repository"
        for cited in CITED.finditer(line):
            if "://" in line[: cited.start() + 8]:
                continue
            page = find(cited["page"], path)
            if page is None:
                yield number, f"{cited['page']} is not in the repository"
            elif cited["section"] and cited["section"] not in sections(page):
                yield number, f"{page} has no section {cited['section']}"


def main():
    found = [(path, *fault) for path in tracked() for fault in faults(path)]
    for path, number, what in found:
        print(f"{path}:{number}: {what}")
    print(f"citations: {len(found)} faults" if found else "citations: every page and section cited is here")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
