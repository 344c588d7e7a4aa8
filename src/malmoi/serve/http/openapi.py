"""The OpenAPI document of the server, made from its endpoints and their schemas."""

import inspect
import re
from importlib.metadata import version
from typing import Any

import msgspec

from malmoi.serve.http.endpoint import JSON, Endpoint
from malmoi.serve.http.schemas import BertErrorBody, ErrorBody, OpenAIErrorBody

VERSION = "3.1.0"
REFERENCE = "#/components/schemas/{name}"
REFUSALS: dict[str, type[msgspec.Struct]] = {
    "malmoi": ErrorBody,
    "openai": OpenAIErrorBody,
    "bert-as-service": BertErrorBody,
}
STATUSES = {
    400: "The request is not as it should be.",
    401: "No key, or a wrong one.",
    404: "There is no such model, word or path.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    503: "Too much is waiting; the header Retry-After says when to try again.",
}
Json = dict[str, Any]


def describe(endpoints: tuple[Endpoint, ...]) -> Json:
    """The whole document."""
    asked = [one.asks for one in endpoints if one.asks is not None]
    answered = [one.answers for one in endpoints if not isinstance(one.answers, str)]
    kinds = list(dict.fromkeys([*asked, *answered, *REFUSALS.values()]))
    schemas, components = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    by_kind = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, Json] = {}
    for one in endpoints:
        operation = describe_one(one, by_kind, components)
        paths.setdefault(path_of(one), {})[one.method.lower()] = operation
    return {
        "openapi": VERSION,
        "info": {"title": "malmoi", "version": version("malmoi")},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def describe_one(one: Endpoint, by_kind: dict[type, Json], components: Json) -> Json:
    """One endpoint."""
    kind = JSON if not isinstance(one.answers, str) else one.answers.partition(";")[0]
    answer = by_kind[one.answers] if not isinstance(one.answers, str) else {}
    refusal = {"content": {JSON: {"schema": by_kind[REFUSALS[one.dialect]]}}}
    responses: Json = {"200": {"description": "Done.", "content": {kind: {"schema": answer}}}}
    responses |= {str(status): {"description": why, **refusal} for status, why in STATUSES.items()}
    operation: Json = {
        "summary": one.summary,
        "description": inspect.getdoc(one.handler) or one.summary,
        "operationId": "_".join(re.findall(r"\w+", f"{one.method.lower()}{path_of(one)}")),
        "responses": responses,
    }
    if not one.free:
        operation["security"] = [{}, {"key": []}]
    if one.asks is not None and one.method == "POST":
        content = {JSON: {"schema": by_kind[one.asks]}}
        operation["requestBody"] = {"required": True, "content": content}
    elif one.asks is not None:
        operation["parameters"] = parameters(components[one.asks.__name__])
    elif named := re.findall(r"{(\w+)", one.path):
        text = {"in": "path", "required": True, "schema": {"type": "string"}}
        operation["parameters"] = [{"name": name, **text} for name in named]
    return operation


def path_of(one: Endpoint) -> str:
    """A path with the names of its parts alone."""
    return re.sub(r"{(\w+)[^}]*}", r"{\1}", one.path)


def parameters(schema: Json) -> list[Json]:
    """The fields of a schema as parts of an address; one that may be null may be left out."""
    found = []
    for name, field in schema["properties"].items():
        kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
        plain = {key: value for key, value in kinds[0].items() if key != "default"}
        required = name in schema.get("required", ())
        found.append({"name": name, "in": "query", "required": required, "schema": plain})
    return found
