#!/usr/bin/env python3
"""Compares openapi.yaml with the facts that the code prints about itself (tests/api/test_openapi.c).

  test_openapi.py openapi.yaml api/limits.h FACTS BODIES

FACTS: the tables of tests/api/openapi_tables.h, and answers and refused requests of the code. Writes BODIES:
the document's examples of requests, for the real parsers. Exit code 0 if all agree.
"""
import copy
import json
import re
import sys
import warnings

import yaml

warnings.simplefilter("ignore", DeprecationWarning)  # RefResolver; version 4.10 has no other resolver
import jsonschema  # noqa: E402

import write_openapi  # noqa: E402
from closed_schema import closed, closed_document  # noqa: E402

METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
BODY = {"json": "application/json", "predict": "application/json",
        "patch": "application/merge-patch+json",
        "empty": "application/json", "optional": "application/json", "file": "application/octet-stream",
        "rows": "text/csv"}
failures = []


def check(fact, message):
    if not fact:
        failures.append(message)


def deref(document, node):
    while "$ref" in node:
        name = node["$ref"]
        node = document
        for part in name.removeprefix("#/").split("/"):
            node = node[part]
    return node


resolvers = {}  # of a document, whose closing takes a tenth of a second


def resolver_of(document):
    if id(document) not in resolvers:
        resolvers[id(document)] = (document, jsonschema.RefResolver("", closed_document(document)))
    return resolvers[id(document)][1]


def validator(document, schema):
    return jsonschema.Draft202012Validator(closed(schema), resolver=resolver_of(document))


def expect_valid(document, schema, value, where):
    for error in validator(document, schema).iter_errors(value):
        failures.append(f"{where}: {error.json_path}: {error.message[:300]}")


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in METHODS:
                yield path, method, operation


def check_routes(document, routes):
    written = {(path, method): operation for path, method, operation in
               operations(document)}
    coded = {(route["path"], route["method"].lower()): route for route in routes}
    for key in written.keys() - coded.keys():
        failures.append(f"documented, not routed: {key}")
    for key in coded.keys() - written.keys():
        failures.append(f"routed, not documented: {key}")
    for key in written.keys() & coded.keys():
        check_operation(document, key, written[key], coded[key])


def check_operation(document, key, operation, route):
    body = operation.get("requestBody")
    check((body is None) == (route["body"] == "none"), f"{key}: request body")
    if body is not None and route["body"] != "none":
        check(list(body["content"]) == [BODY[route["body"]]], f"{key}: content type")
        check(body["required"] == (route["body"] not in ("empty", "optional")), f"{key}: body required")
    named = {"path": [], "query": []}
    for parameter in operation.get("parameters", []):
        parameter = deref(document, parameter)
        named.setdefault(parameter["in"], []).append(parameter["name"])
    check(named["path"] == re.findall(r"{(\w+)}", key[0]), f"{key}: path parameters")
    check(named["query"] == route["query"].split(),
          f"{key}: query parameters {named['query']}, routed {route['query']}")
    check(("Idempotency-Key" in named.get("header", [])) == route["keyed"],
          f"{key}: Idempotency-Key")
    types = [list(deref(document, response).get("content", {}))
             for status, response in operation["responses"].items()
             if status[0] == "2" and (status != "204" or not route["types"])]
    check(all(kinds == route["types"].split() for kinds in types),
          f"{key}: types {types}, routed {route['types']}")
    check("default" in operation["responses"], f"{key}: a default response")


def check_codes(document, codes):
    """Each code must be in the response of its status, or in the one for all others, with its status."""
    responses = document["components"]["responses"]
    told = {code: int(status) for status, code in re.findall(
        r"(\d{3})\s+`([a-z_]+)`", responses["Problem"]["description"])}
    for code, status in codes.items():
        check(told.get(code, status) == status, f"the response Problem has {code} as {told.get(code)}")
        check(code in told or f"Problem{status}" in responses, f"no response has {code}")
    check(told.keys() <= codes.keys(), f"codes of no problem: {told.keys() - codes.keys()}")


def takes(document, schema, format_name, classes):
    """Returns whether an alternative of DatasetRequest allows the format with this number of classes."""
    facts = {"format": format_name, "classes": classes, "task": "classification"}
    conditions = {name: schema[name] for name in ("if", "then", "else")}
    return validator(document, conditions).is_valid(facts) and all(
        validator(document, schema["properties"][name]).is_valid(value)
        for name, value in facts.items())


def check_formats(document, formats):
    """Each format must be in the alternative that has the members, files and classes of its form."""
    schemas = document["components"]["schemas"]
    member = {"shaped": "features", "indexed": "labels", "columns": "columns"}
    names = [item["name"] for item in formats]
    requests = [deref(document, item) for item in schemas["DatasetRequest"]["oneOf"]]
    written = [name for schema in requests
               for name in values_of(schema["properties"]["format"])]
    check(sorted(written) == sorted(names), f"formats: code {names}, document {written}")
    upload = document["paths"]["/v1/datasets/{id}/files/{name}"]["put"]
    uploads = next(deref(document, item["schema"])["enum"] for item in upload["parameters"]
                   if item.get("name") == "name")
    check({file for item in formats for file in item["files"]} == set(uploads), "files/{name}")
    for item in formats:
        for schema in requests:
            if item["name"] not in values_of(schema["properties"]["format"]):
                continue
            check(member[item["form"]] in schema["properties"],
                  f"{item['name']} is {item['form']}: no member {member[item['form']]}")
            for classes in (2, 7, 10, 20, 100):
                check(takes(document, schema, item["name"], classes)
                      == (not item["classes"] or classes in item["classes"]),
                      f"{item['name']} with {classes} classes")


def check_for_generators(schema, place):
    """The document must have no schema that breaks generators of clients (tests/generators). They ignore
    conditions."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            check_for_generators(item, f"{place}/{index}")
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("enum"), list):
        check("type" in schema, f"{place}: an enum without a type")
    check(not isinstance(schema.get("uniqueItems"), bool) or place.endswith("/allOf/0"),
          f"{place}: uniqueItems outside an allOf")
    check("const" not in schema or isinstance(schema["const"], dict),
          f"{place}: a const, in the place of an enum")
    for name, member in schema.items():
        if name == "properties" and isinstance(member, dict):
            for key, value in member.items():
                check(not isinstance(value, bool), f"{place}/{key}: only true or false")
        if name not in ("if", "then", "else", "not", "contains", "examples", "example", "value", "default"):
            check_for_generators(member, f"{place}/{name}")


def values_of(schema):
    return schema["enum"] if "enum" in schema else [schema["const"]]


def contents(document):
    """Yields every media type of the document with its place, direction and operation."""
    for path, method, operation in operations(document):
        place = f"{method} {path}"
        for kind, media in operation.get("requestBody", {}).get("content", {}).items():
            yield place, operation["operationId"], True, kind, media
        for status, response in operation["responses"].items():
            for kind, media in deref(document, response).get("content", {}).items():
                yield f"{place} {status}", operation["operationId"], False, kind, media


def check_examples(document):
    """Every example must match its schema; returns the requests by operation."""
    bodies = {}
    for place, name, is_request, kind, media in contents(document):
        examples = media.get("examples", {})
        if is_request and kind == "application/json":
            check(examples, f"{place}: no example of the request")
        for title, example in examples.items():
            expect_valid(document, media["schema"], example["value"],
                         f"{place}: example {title}")
            if is_request:
                bodies.setdefault(name, []).append(json.dumps(example["value"]))
    return bodies


def check_refused(document, refused):
    """The document's schema must refuse every text that the code refuses by its syntax only."""
    for name, texts in refused.items():
        schema = {"$ref": f"#/components/schemas/{name}"}
        for text in texts:
            check(not validator(document, schema).is_valid(json.loads(text)),
                  f"{name} allows what the code refuses: {text}")


def check_answers(document, answers):
    for name, texts in answers.items():
        for text in texts:
            expect_valid(document, {"$ref": f"#/components/schemas/{name}"},
                         json.loads(text), f"{name} as rendered")


def check_references(document):
    used = set(re.findall(r"#/components/(\w+/\w+)", json.dumps(document)))
    used |= {f"securitySchemes/{name}" for one in document["security"] for name in one}
    defined = {f"{kind}/{name}" for kind, group in document["components"].items()
               for name in group}
    check(used <= defined, f"references to nothing: {used - defined}")
    check(defined <= used, f"never referred to: {defined - used}")


def main():
    document_path, limits_path, facts_path, bodies_path = sys.argv[1:]
    with open(document_path, encoding="utf-8") as file:
        text = file.read()
    with open(facts_path, encoding="utf-8") as file:
        facts = json.load(file)
    with open(limits_path, encoding="utf-8") as file:
        header = file.read()
    check(write_openapi.rewrite(text, header, facts) == text, "openapi.yaml is stale: run make openapi")
    document = yaml.load(text, yaml.CSafeLoader)
    check(document["openapi"].startswith("3.1."), "not OpenAPI 3.1")
    check(document["info"]["version"] == facts["version"], "info.version")
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    check_references(document)
    check_routes(document, facts["routes"])
    check_codes(document, facts["codes"])
    check_formats(document, facts["formats"])
    check_for_generators(document["paths"], "paths")
    check_for_generators(document["components"], "components")
    bodies = check_examples(copy.deepcopy(document))
    check_answers(document, facts["answers"])
    check_refused(document, facts["refused"])
    with open(bodies_path, "w", encoding="utf-8") as file:
        json.dump(bodies, file)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
