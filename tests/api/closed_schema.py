"""Schemas of openapi.yaml whose objects are closed, so that a member that the document lacks is a fault."""

CONDITIONS = ("if", "not", "contains")  # they stay open: they name only the members that they depend on


def closed(schema):
    """Returns the schema with every object closed."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: value if key in CONDITIONS else closed(value) for key, value in schema.items()}
    if isinstance(result.get("properties"), dict) and "object" in result.get("type", ()):
        result.setdefault("additionalProperties", False)
    return result


def closed_document(document):
    """Returns the document with closed schemas, for references to them."""
    components = document["components"]
    return {**document, "components": {**components, "schemas": closed(components["schemas"])}}
