#!/usr/bin/env python3
"""Writes the parts of openapi.yaml that follow from tables of the code.

  write_openapi.py openapi.yaml api/limits.h TABLES

TABLES: what tests/api/openapi_tables.h prints. `make openapi` runs this; tests/api/test_openapi fails if the
committed file differs. A generated schema keeps the descriptions that stand in the document, unless the
table has its own. All other text of the document stays as it is.
"""
import json
import re
import sys
import textwrap

import yaml

WIDTH = 140  # longest line of a value that is written in one line
TEXT_WIDTH = 118  # of a text in one line; a longer one is wrapped at WRAP
WRAP = 102
ORDER = ["type", "description", "additionalProperties", "required", "properties"]


# --- values as YAML ---

def scalar(value, inside=True):
    """Returns a text, a number or a word as YAML, inside brackets or not."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float):
        digits = next(count for count in range(17) if float(f"{value:.{count}e}") == value)
        mantissa, exponent = f"{value:.{max(digits, 1)}e}".split("e")
        text = f"{mantissa}e{exponent[0]}{int(exponent[1:])}"
        if value != int(value):
            return repr(value) if "e" not in repr(value) else text
        return str(int(value)) if abs(value) < 1e9 else min(str(int(value)), text, key=len)
    if isinstance(value, int):
        return str(value)
    barred = ":#\n{}[]," if inside else ":#\n"
    if re.fullmatch(rf"[A-Za-z_]([^{re.escape(barred)}]|:(?=\S))*", value) and yaml.safe_load(value) == value:
        return value
    return "'" + value.replace("'", "''") + "'"


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def nests(value):
    """Returns whether a value is too deep for one line: it has several members, or items, that are mappings."""
    items = list(value.values() if isinstance(value, dict) else value if isinstance(value, list) else [])
    return sum(isinstance(item, dict) for item in items) > 1 or any(map(nests, items))


def one_line(head, value):
    line = head + (flow(value) if isinstance(value, (dict, list)) else scalar(value, inside=False))
    fits = len(line) <= (TEXT_WIDTH if isinstance(value, str) else WIDTH) or not isinstance(value, (dict, list, str))
    return [line] if fits and "\n" not in line and not nests(value) else None


def lines_of(name, value, indent, head=None):
    """Returns the lines of a member: one line if it fits, else a block."""
    head = (head or " " * indent) + f"{name}: "
    line = one_line(head, value)
    if line:
        return line
    if isinstance(value, str):
        texts = value.strip("\n").split("\n")
        if len(texts) == 1:
            texts = textwrap.wrap(value, WRAP - indent - 2, break_on_hyphens=False)
        return [head + "|"] + [(" " * (indent + 2) + text).rstrip() for text in texts]
    if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        return textwrap.wrap(head.lstrip() + flow(value), WRAP, break_on_hyphens=False,
                             initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))
    if isinstance(value, dict):
        members = [line for key, item in value.items() for line in lines_of(key, item, indent + 2)]
        return [head.rstrip()] + members
    return [head.rstrip()] + [line for item in value for line in lines_of_item(item, indent + 2)]


def lines_of_item(item, indent):
    lead = " " * indent + "- "
    line = one_line(lead, item)
    if line or not isinstance(item, dict):
        return line or [lead + flow(item)]
    (first, value), *rest = item.items()
    return lines_of(first, value, indent + 2, lead) + [
        line for key, member in rest for line in lines_of(key, member, indent + 2)]


# --- places in the document's text ---

def place(lines, path):
    """Returns the first line of the member at path and the line after its last one."""
    first, last = 0, len(lines)
    for depth, name in enumerate(path):
        opening = " " * (2 * depth) + name + ":"
        first = next(i for i in range(first, last) if (lines[i] + " ").startswith(opening + " "))
        last = next((i for i in range(first + 1, last)
                     if lines[i].strip() and len(lines[i]) - len(lines[i].lstrip()) <= 2 * depth), last)
    while not lines[last - 1].strip():
        last -= 1
    return first, last


class Document:
    def __init__(self, text):
        self.lines = text.split("\n")
        self.value = yaml.load(text, yaml.CSafeLoader)
        self.schemas = self.value["components"]["schemas"]
        self.done = {}  # schemas that were written, by name

    def put(self, path, value):
        """Replaces the member at path, a list of names, by value."""
        first, last = place(self.lines, path)
        self.lines[first:last] = lines_of(path[-1], value, 2 * (len(path) - 1))

    def put_schema(self, name, schema):
        self.done[name] = schema
        self.put(["components", "schemas", name], self.fit(schema, self.schemas[name]))

    def put_schemas(self, schemas, former):
        """Replaces the schemas named in former by these, at the place of the first of them."""
        path = ["components", "schemas"]
        at = min(place(self.lines, path + [name])[0] for name in former)
        for name in former:
            first, last = place(self.lines, path + [name])
            del self.lines[first:last]
        self.lines[at:at] = [line for name, schema in schemas.items()
                             for line in lines_of(name, schema, 4)]

    def fit(self, schema, former):
        """Returns the schema with the descriptions that former, the document's, has at the same places. If former
        is a reference, the schema that it refers to is written, and the reference stays, unless that schema was
        written already and is another one."""
        if isinstance(schema, list) and isinstance(former, list) and len(schema) == len(former):
            return [self.fit(item, old) for item, old in zip(schema, former)]
        if not isinstance(schema, dict) or not isinstance(former, dict) or "$ref" in schema:
            return schema
        if "$ref" in former:
            if self.done.get(named(former), schema) != schema:
                return schema
            self.put_schema(named(former), schema)
            return former
        told = {"description": former["description"]} if isinstance(former.get("description"), str) else {}
        whole = {**told, **{name: self.fit(item, former.get(name)) for name, item in schema.items()}}
        is_object = "oneOf" in whole or "properties" in whole and "type" in whole
        names = [name for name in ORDER if name in whole] if is_object else []
        last = ["description"] if "description" in whole and not names else []
        rest = [name for name in whole if name not in names + last]
        return {name: whole[name] for name in names + rest + last}


# --- schemas as generators of clients need them ---

def written(schema):
    """Returns the schema with a type next to an enum, an enum instead of a const, no schema that is only false,
    and x-default for members that conditions may forbid."""
    if isinstance(schema, list):
        return [written(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("$ref") == "#/$defs/layer":
        return reference("Layer")
    if "const" in schema:
        schema = {"enum": [schema["const"]]}
    if "enum" in schema and "type" not in schema:
        kind = "string" if isinstance(schema["enum"][0], str) else "integer"
        schema = {"type": kind, **schema}
    schema = {name: written(item) if name not in ("allOf", "default") else item
              for name, item in schema.items() if (name, item) != ("minItems", 0)}
    if not schema.get("allOf"):
        return schema
    members = dict(schema["properties"])
    rules = []
    for rule in schema["allOf"]:
        name = next(iter(rule["else"]["properties"]))
        members[name] = {{"default": "x-default"}.get(key, key): item for key, item in members[name].items()}
        rules.append({"if": rule["if"], "else": {"not": {"required": [name]}}})
    return {**schema, "properties": members, "allOf": rules}


def reference(name):
    return {"$ref": f"#/components/schemas/{name}"}


def named(reference):
    return reference["$ref"].split("/")[-1]


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def values(schema):
    return schema["enum"] if "enum" in schema else [schema["const"]]


def mapping(alternatives, member):
    return {value: f"#/components/schemas/{name}" for name, schema in alternatives.items()
            for value in values(schema["properties"][member])}


def choice(document, name, member, alternatives):
    """Writes a choice between objects that member tells apart. Layers without other members are one schema."""
    parts = {}
    for schema in map(written, alternatives):
        kinds = schema["properties"][member]["enum"]
        part = name + camel(kinds[0])
        if name == "Layer" and len(schema["properties"]) == 1:
            part = "LayerPlain"
            kinds[:0] = parts.get(part, {"properties": {member: {"enum": []}}})["properties"][member]["enum"]
        parts[part] = schema
    former = {named(item): document.schemas[named(item)] for item in document.schemas[name]["oneOf"]}
    common = {key: item for old in former.values() for key, item in old["properties"].items() if "$ref" in item}
    for part, schema in parts.items():
        old = document.schemas.get(part, {"properties": {}})
        parts[part] = document.fit(schema, {**old, "properties": {**common, **old["properties"]}})
    document.put_schema(name, {
        "oneOf": [reference(part) for part in parts],
        "discriminator": {"propertyName": member, "mapping": mapping(parts, member)}})
    document.put_schemas(parts, former)


# --- the tables ---

def limits(header):
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    found = re.findall(r"^(?:\s+|#define )LIMIT_(\w+)(?: =|\s) *([^,}\n]+)", header, flags=re.M)
    return {name.lower(): number(text.strip()) for name, text in found}


def number(text):
    text = re.sub(r"U?INT64_C\((\d+)\)", r"\1", text).replace("INT32_MAX", "2147483647")
    if "p" in text:
        return float.fromhex(text)
    if not re.fullmatch(r"[\d.e+\-() <]+", text):
        raise ValueError(f"a limit that this script cannot read: {text}")
    return eval(text, {"__builtins__": {}})


def put_limits(document, header):
    used = set(re.findall(r"\*([a-z_0-9]+)", "\n".join(document.lines)))
    first, last = place(document.lines, ["x-limits"])
    document.lines[first + 1:last] = [
        f"  {name}: {f'&{name} ' if name in used else ''}{scalar(value)}"
        for name, value in limits(header).items()]


def put_codes(document, codes):
    """Writes the codes of each status into its response. A code that the response Problem names is elsewhere
    only if its status has no other."""
    responses = document.value["components"]["responses"]
    told = re.findall(r"`([a-z_]+)`", responses["Problem"]["description"])
    for name, response in responses.items():
        if not re.fullmatch(r"Problem\d+", name):
            continue
        own = [code for code, status in codes.items() if name == f"Problem{status}"]
        lead = response["description"].split("Codes:")[0].replace("\n", " ")
        text = f"{lead}Codes: {', '.join([code for code in own if code not in told] or own)}."
        document.put(["components", "responses", name, "description"], text)


def put_routes(document, routes):
    for route in routes:
        operation = document.value["paths"].get(route["path"], {}).get(route["method"].lower())
        if operation is not None:
            path = ["paths", route["path"], route["method"].lower()]
            document.put(path + ["operationId"], route["name"])
            document.put(path + ["x-scope"], route["scope"])
    action = document.schemas["AuditRow"]["properties"]["action"]
    acts = ", ".join(dict.fromkeys(route["act"] for route in routes if route["act"]))
    rest = action["description"].replace("\n", " ").split("; ", 1)[1]
    document.put(["components", "schemas", "AuditRow", "properties", "action"],
                 {**action, "description": f"{acts}; {rest.strip()}"})


def put_enums(document, enums):
    for path, words in enums.items():
        schema = document.schemas
        for name in path.split("/"):
            schema = schema[name]
        also = [None] if None in schema["enum"] else []
        document.put(["components", "schemas", *path.split("/")], {**schema, "enum": list(dict.fromkeys(words)) + also})


def put_discriminators(document):
    for name, schema in document.schemas.items():
        if "discriminator" in schema:
            member = schema["discriminator"]["propertyName"]
            parts = {named(item): document.schemas[named(item)] for item in schema["oneOf"]}
            document.put(["components", "schemas", name, "discriminator"],
                         {"propertyName": member, "mapping": mapping(parts, member)})


def rewrite(text, header, tables):
    """Returns the text of the document as the tables have it."""
    document = Document(text)
    put_codes(document, tables["codes"])
    put_routes(document, tables["routes"])
    put_discriminators(document)
    put_enums(document, tables["enums"])
    scopes = document.schemas["KeyRequest"]["properties"]["scopes"]
    document.put(["components", "schemas", "KeyRequest", "properties", "scopes"],
                 {**scopes, "maxItems": len(tables["enums"]["Scope"])})
    for name, (member, alternatives) in tables["choices"].items():
        choice(document, name, member, alternatives)
    put_limits(document, header)
    return "\n".join(document.lines)


def main():
    path, header_path, tables_path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(header_path, encoding="utf-8") as file:
        header = file.read()
    with open(tables_path, encoding="utf-8") as file:
        tables = json.load(file)
    after = rewrite(text, header, tables)
    if after != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(after)


if __name__ == "__main__":
    main()
