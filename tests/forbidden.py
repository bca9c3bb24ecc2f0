"""Checks that every sentence of docs/access.md and docs/approvals.md that forbids something has a test.

tests/e2e/forbidden.list maps sentences to tests. The name of a page is followed by fragments of its sentences; each
fragment must occur in exactly one sentence of the page. One or more fragments are followed either by their tests,
`test_keys.c a_function`, or by `none: ` and the reason why there is no test: the sentence explains another one, or
asks something of people. A sentence forbids something if it has one of the words of FORBIDS. Sentences of code blocks
and headings do not count; a row of a table is a sentence.

    forbidden.py        exit code 1 on a sentence without an entry, a fragment that is not in its page exactly once,
                        and a test that no program runs
    forbidden.py --all  prints the sentences that forbid something
"""
import pathlib
import re
import sys

LIST = pathlib.Path("tests/e2e/forbidden.list")
PAGES = ["docs/access.md", "docs/approvals.md"]
FORBIDS = re.compile(
    r"\b(refus\w+|forbid\w*|may not|must|cannot|can not|could not|does not|do not|nobody|no one|nothing|never|none|"
    r"only|alone|at most|no longer|no other|neither|not|no|ends|takes? the scope|and the scope|4\d\d|503|64|"
    r"needs|stays|until|holds|its own|counts whole|takes? a second person)\b|\| +\|",
    re.IGNORECASE,
)
END = re.compile(r"(?<=[.!?])[)*]* +(?=[A-Z`*\[(\"])|(?<=:) +(?=\*\*)")


def paragraphs(page):
    """The paragraphs, list items and rows of a page, each on one line."""
    text, code = [], False
    for line in pathlib.Path(page).read_text().split("\n") + [""]:
        if line.lstrip().startswith("```"):
            code = not code
            line = ""
        begins = not line.strip() or code or line.startswith(("#", "|", "* "))
        if begins and text:
            yield " ".join(text)
            text = []
        if line.strip() and not code and not line.startswith(("#", "|--", "|-")):
            text.append(line.strip())


def sentences(page):
    for paragraph in paragraphs(page):
        yield from ([paragraph] if paragraph.startswith("|") else END.split(paragraph))


def entries():
    """Yields (line, page, fragment, tests or reason) of the list. Consecutive fragments share their tests."""
    page, shown = None, ["closed"]
    for number, line in enumerate(LIST.read_text().split("\n"), 1):
        if line in PAGES:
            page = line
        elif line.startswith(" "):
            shown.append(line.strip())
        elif line and not line.startswith("#"):
            shown = [] if shown else shown
            yield number, page, line, shown


def runs(shown, known={}):
    """Returns whether a program of that name runs the function as a test."""
    name, function = shown.split(" ")
    if name not in known:
        known[name] = [path.read_text() for path in pathlib.Path("tests").rglob(name)]
    return any(len(re.findall(rf"\b{function}\b", text)) > 1 for text in known[name])


def faults():
    listed = list(entries())
    for number, page, fragment, shown in listed:
        found = sum(fragment in sentence for sentence in sentences(page))
        if found != 1:
            yield f"{LIST}:{number}: {page} has {found} sentences with: {fragment}"
        if not shown:
            yield f"{LIST}:{number}: neither a test nor a reason"
        for test in shown:
            if not test.startswith("none: ") and not (re.fullmatch(r"\S+ \w+", test) and runs(test)):
                yield f"{LIST}:{number}: no program runs {test}"
    for page in PAGES:
        fragments = [fragment for _, place, fragment, _ in listed if place == page]
        for sentence in sentences(page):
            if FORBIDS.search(sentence) and not any(fragment in sentence for fragment in fragments):
                yield f"{page}: {LIST} has no entry for: {sentence}"


def main():
    if sys.argv[1:] == ["--all"]:
        print("\n".join(f"{page}: {s}" for page in PAGES for s in sentences(page) if FORBIDS.search(s)))
        return 0
    found = list(faults())
    print("\n".join(found) if found else "forbidden: each sentence has a test or a reason")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
