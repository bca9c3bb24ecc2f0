#!/usr/bin/env python3
"""Checks that docs/scale.md has a row for each message of the store with which a daemon exits with code 75."""
import re
import sys

source = open("store/postgres/postgres_session.c", encoding="utf-8").read()
source += open("store/store.c", encoding="utf-8").read()
page = open("docs/scale.md", encoding="utf-8").read()
calls = re.findall(r'postgres_session_fail\(\s*postgres,\s*((?:"[^"]*"\s*)+)\)', source)
calls += re.findall(r': ("a file that is part[^"]*")', source)
texts = ["".join(re.findall(r'"([^"]*)"', call)) for call in calls]
rows = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
missing = [text for text in texts if not any(text.startswith(row) for row in rows)]
for text in missing:
    print(f"docs/scale.md: no row says why a daemon ends with: {text}")
if not missing and len(texts) > 5:
    print(f"endings: each of {len(texts)} has a row")
sys.exit(bool(missing) or len(texts) <= 5)
