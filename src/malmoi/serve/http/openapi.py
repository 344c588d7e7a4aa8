"""The OpenAPI document of the server, made from its endpoints and their schemas."""

import inspect
import re
from importlib.metadata import version
from typing import Any

import msgspec

from malmoi.serve.http.endpoint import JSON, Endpoint
from malmoi.serve.http.schemas import BertErrorBody, ErrorBody, OpenAIErrorBody

OPENAPI_VERSION = "3.1.0"
REFERENCE = "#/components/schemas/{name}"
ERROR_TYPES: dict[str, type[msgspec.Struct]] = {
    "malmoi": ErrorBody,
    "openai": OpenAIErrorBody,
    "bert-as-service": BertErrorBody,
}
STATUSES = {
    400: "The request is invalid.",
    401: "The API key is missing or wrong.",
    404: "The model, word or path does not exist.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    503: "The server is overloaded; the header Retry-After says when to try again.",
}
JsonObject = dict[str, Any]


def openapi_document(endpoints: tuple[Endpoint, ...]) -> JsonObject:
    """The whole document."""
    requests = [one.request_type for one in endpoints if one.request_type is not None]
    responses = [one.response_type for one in endpoints if not isinstance(one.response_type, str)]
    kinds: list[Any] = list(dict.fromkeys([*requests, *responses, *ERROR_TYPES.values()]))
    schemas, components = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    by_kind = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, JsonObject] = {}
    for one in endpoints:
        operation = operation_object(one, by_kind, components)
        paths.setdefault(one.template, {})[one.method.lower()] = operation
    return {
        "openapi": OPENAPI_VERSION,
        "info": {"title": "malmoi", "version": version("malmoi")},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def operation_object(
    endpoint: Endpoint, by_kind: dict[Any, JsonObject], components: JsonObject
) -> JsonObject:
    """One endpoint."""
    kind, request_type = endpoint.response_type, endpoint.request_type
    content_type = kind.partition(";")[0] if isinstance(kind, str) else JSON
    schema = {} if isinstance(kind, str) else one_of(by_kind[kind])
    error = {"content": {JSON: {"schema": by_kind[ERROR_TYPES[endpoint.dialect]]}}}
    success = {"description": "Done.", "content": {content_type: {"schema": schema}}}
    responses: JsonObject = {"200": success}
    responses |= {str(status): {"description": why, **error} for status, why in STATUSES.items()}
    path = endpoint.template
    operation: JsonObject = {
        "summary": endpoint.summary,
        "description": inspect.getdoc(endpoint.handler) or endpoint.summary,
        "operationId": "_".join(re.findall(r"\w+", f"{endpoint.method.lower()}{path}")),
        "responses": responses,
    }
    if not endpoint.public:
        operation["security"] = [{}, {"key": []}]
    if request_type is not None and endpoint.method == "POST":
        content = {JSON: {"schema": by_kind[request_type]}}
        operation["requestBody"] = {"required": True, "content": content}
    elif request_type is not None:
        operation["parameters"] = query_parameters(components[request_type.__name__])
    elif names := re.findall(r"{(\w+)", endpoint.path):
        parameter = {"in": "path", "required": True, "schema": {"type": "string"}}
        operation["parameters"] = [{"name": name, **parameter} for name in names]
    return operation


def one_of(schema: JsonObject) -> JsonObject:
    """The schema of an answer: of the alternatives of a union, exactly one fits."""
    return {"oneOf": schema["anyOf"]} if "anyOf" in schema else schema


def query_parameters(schema: JsonObject) -> list[JsonObject]:
    """The fields of a schema as query parameters; a nullable field is optional."""
    parameters = []
    for name, field in schema["properties"].items():
        kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
        plain = {key: value for key, value in kinds[0].items() if key != "default"}
        required = name in schema.get("required", ())
        parameters.append({"name": name, "in": "query", "required": required, "schema": plain})
    return parameters
