"""Counts the files of the product that know the newest table of the store: its step, and its rows.

    table_files.py       exit code 1 if there are more than CONTRIBUTING.md says
"""
import pathlib
import re
import sys

STEPS = pathlib.Path("store/sql/schema_steps.def")
FOLDERS = ("accountant", "api", "base", "engine", "mpi", "service", "store")
FILES_MAX = 3  # the list of steps, and a .c and a .h of store/rows/


def files(table):
    """Returns the files that name the table in SQL, and the headers of those that are rows."""
    named = re.compile(rf'\b(?:TABLE|FROM|INTO|UPDATE|JOIN|ON)\s+(?:\\")?{table}\b|\("{table}"')
    found = {path for folder in FOLDERS for path in pathlib.Path(folder).rglob("*.*")
             if path.suffix in (".c", ".h", ".def") and named.search(path.read_text())}
    return found | {path.with_suffix(".h") for path in found if path.with_suffix(".h").exists()}


def main():
    table = re.findall(r"CREATE TABLE (\w+)\(", STEPS.read_text())[-1]
    found = files(table)
    if not 1 < len(found) <= FILES_MAX:
        print(f"table_files: {len(found)} files know the table {table}, at most {FILES_MAX} may:")
        print(*sorted(map(str, found)), sep="\n")
        return 1
    return 0


sys.exit(main())
