"""Generates src/epsilond/_types.py: the schemas of openapi.yaml as Python types.

    python3 clients/python/tools/make_types.py            writes the file
    python3 clients/python/tools/make_types.py --check    exit code 1 if it is out of date

An object becomes a TypedDict, a choice a union, a list of words a Literal. The service checks the rules
of JSON Schema beyond types (limits, patterns, members that exclude each other). Needs PyYAML.
"""

from __future__ import annotations

import difflib
import json
import keyword
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

CLIENT = pathlib.Path(__file__).resolve().parents[1]
CONTRACT = CLIENT.parents[1] / "openapi.yaml"
TARGET = CLIENT / "src" / "epsilond" / "_types.py"
WIDTH = 100
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
TELLING = {"type", "properties", "$ref", "const", "enum", "oneOf", "anyOf"}
HEAD = '''"""The schemas of openapi.yaml as Python types. Made by tools/make_types.py; not to be edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:  # Python 3.10 has no NotRequired; annotations are never evaluated here.
    from typing_extensions import NotRequired
'''


def camel(words: object) -> str:
    """Converts 'idx, npy' to IdxNpy, and fixed_subset to FixedSubset."""
    return "".join(word[:1].upper() + word[1:] for word in re.findall(r"[A-Za-z0-9]+", str(words)))


def union(options: Iterable[str]) -> str:
    """The distinct options, with None last."""
    names = list(dict.fromkeys(options))
    return "Any" if "Any" in names else " | ".join(sorted(names, key=lambda name: name == "None"))


def literal(values: list[Any]) -> str:
    """The values as a Literal. A Literal has no floats, so a list with a float becomes float."""
    if isinstance(values[0], list):
        return "list[int]"
    if any(isinstance(value, float) for value in values):
        return "float"
    written = [json.dumps(value) if isinstance(value, str) else repr(value) for value in values]
    return f"Literal[{', '.join(written)}]"


def constant_of(schema: dict[str, Any]) -> str | None:
    """The word that distinguishes one object of a choice from the others: a preset, a kind."""
    members = [member for member in schema["properties"].values() if isinstance(member, dict)]
    words = [member["const"] for member in members if "const" in member]
    words += [member["enum"][0] for member in members if "enum" in member]
    return next((word for word in words if isinstance(word, str)), None)


def wrapped(head: str, text: str, separator: str, tail: str = "") -> str:
    """One line, or several lines that are broken after separators."""
    if len(head + text + tail) <= WIDTH:
        return head + text + tail
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    body = textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent,
                         break_on_hyphens=False, break_long_words=False)
    if separator == "|":
        return f"{head}(\n{body}\n{indent[4:]}){tail}"
    return f"{head}\n{body}\n{indent[4:]}{tail}"


def assignment(head: str, expression: str) -> str:
    """A name or a member with its type; a long Literal or union on several lines."""
    bracket = re.fullmatch(r"(Literal\[)(.*)(\])", expression)
    if bracket:
        return wrapped(head + bracket[1], bracket[2], ",", bracket[3])
    return wrapped(head, expression, "|")


class Writer:
    """Types in the order in which they are found: classes, then the names of all other types."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self.schemas = schemas
        self.classes: dict[str, str] = {}
        self.names: dict[str, str] = {}
        for name, schema in schemas.items():
            expression = self.expression(name, schema, top=True)
            if expression != name:
                self.names[name] = expression

    def expression(self, name: str, schema: Any, top: bool = False) -> str:
        """The type of a schema. Writes further types that it needs under names that begin with `name`."""
        if not isinstance(schema, dict) or not schema:
            return "Any"
        if "$ref" in schema:
            return str(schema["$ref"]).rpartition("/")[2]
        if "const" in schema:
            return literal([schema["const"]])
        if "enum" in schema:
            return literal(schema["enum"])
        if "properties" in schema:
            return self.record(name if top or name not in self.schemas else f"{name}Member", schema)
        choice = schema.get("oneOf") or schema.get("anyOf") or []
        # A choice that only counts or forbids says nothing about types.
        if choice and all("properties" in item or "type" not in schema and TELLING & item.keys()
                          for item in choice):
            return union(self.options(name, choice, schema.get("required", [])))
        return self.by_type(name, schema)

    def options(
        self, name: str, items: list[dict[str, Any]], required: list[str]
    ) -> Iterator[str]:
        """The types of a choice's items. The members that all of them require are next to the choice."""
        objects = [item for item in items if "properties" in item]
        for place, item in enumerate(items, 1):
            if item not in objects or (len(objects) == 1 and name not in self.schemas):
                yield self.expression(name, item)
                continue
            own = item.get("required") or [place]
            suffix = camel(item.get("title") or constant_of(item) or own[0])
            if name + suffix in self.classes:
                suffix += camel(own[-1])
            yield self.expression(name + suffix, {**item, "required": [*required, *own]})

    def by_type(self, name: str, schema: dict[str, Any]) -> str:
        kinds = schema.get("type", [])
        found = []
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if kind == "array":
                found.append(f"list[{self.expression(name + 'Item', schema.get('items'))}]")
            elif kind == "object":
                found.append("dict[str, Any]")
            else:
                found.append(PLAIN[kind])
        return union(found) if found else "Any"

    def record(self, name: str, schema: dict[str, Any]) -> str:
        if schema.get("additionalProperties"):
            return "dict[str, Any]"  # A TypedDict cannot have members with arbitrary names.
        typed = {}
        for key, value in schema["properties"].items():
            if value is not False:
                expression = self.expression(name + camel(key), value)
                always = key in schema.get("required", [])
                typed[key] = expression if always else f"NotRequired[{expression}]"
        self.classes[name] = class_text(name, schema.get("description", ""), typed)
        kinds = schema.get("type")
        return f"{name} | None" if isinstance(kinds, list) and "null" in kinds else name

    def text(self) -> str:
        """Members of classes are evaluated lazily, other names at once: they come after the names that they use."""
        ordered: list[str] = []

        def place(name: str) -> None:
            for other in re.findall(r"\w+", self.names[name]):
                if other in self.names and other != name:
                    place(other)
            if name not in ordered:
                ordered.append(name)

        for name in self.names:
            place(name)
        names = "\n".join(assignment(f"{name} = ", self.names[name]) for name in ordered)
        return "\n\n".join([HEAD, *self.classes.values(), names + "\n"])


def class_text(name: str, description: str, typed: dict[str, str]) -> str:
    if any(keyword.iskeyword(key) or not key.isidentifier() for key in typed):
        members = [f"        {key!r}: {value!r},\n" for key, value in typed.items()]
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{"".join(members)}    }},\n)\n'
    lines = [f"class {name}(TypedDict):"]
    if description:
        text = '"""' + " ".join(description.split()) + '"""'
        lines += [*textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    "), ""]
    lines += [assignment(f"    {key}: ", value) for key, value in typed.items()] or ["    pass"]
    return "\n".join(lines) + "\n"


def generate() -> str:
    """The text of the file for the current openapi.yaml."""
    contract = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    return Writer(contract["components"]["schemas"]).text()


def main(arguments: list[str]) -> int:
    made = generate()
    if arguments != ["--check"]:
        TARGET.write_text(made, encoding="utf-8")
        return 0
    kept = TARGET.read_text(encoding="utf-8")
    sys.stdout.writelines(difflib.unified_diff(
        kept.splitlines(True), made.splitlines(True), TARGET.name, "as openapi.yaml has it"))
    return int(kept != made)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
