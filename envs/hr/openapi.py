"""The OpenAPI 3.1 document of the API in a style.

It says what the server does and no more; of records it has all but the undocumented field.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentgym.envs.hr.endpoints import ENDPOINTS, LARGEST_PAGE, PAGE_SIZE
from agentgym.envs.hr.operations import LARGEST_PAGE_NUMBER, LONGEST_KEY, Api, Operation, Param, api
from agentgym.envs.hr.records import RECORDS
from agentgym.envs.hr.style import Style

Json = dict[str, Any]
_KINDS = ("id", "text", "int", "bool", "date", "month", "moment", "money", "minutes", "hundredths")


@lru_cache(maxsize=64)
def _made(style: Style) -> Json:
    made = api(style)
    paths: dict[str, Json] = {}
    for operation in made.operations.values():
        path = operation.route.path(style.names.fields)
        paths.setdefault(path, {})[operation.route.method.lower()] = _operation(made, operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": style.title, "version": "1.0.0"},
        "servers": [{"url": "/"}],
        "tags": [{"name": style.names.sections[name]} for name in dict.fromkeys(e.resource for e in ENDPOINTS)],
        "paths": paths,
        "components": {
            "responses": {
                "Error": {
                    "description": "why not",
                    "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{_error_name(style)}"}}},
                }
            },
            "schemas": {
                **{f"kind.{kind}": _kind(made, kind) for kind in _KINDS},
                **{style.names.records[record]: record_schema(made, record) for record in RECORDS},
                _error_name(style): _error_schema(style),
            },
        },
    }


def _kind(made: Api, kind: str) -> Json:
    codec = made.codec(kind)
    return {**codec.schema, "description": codec.expects}


def _schema(kind: str, schema: Mapping[str, Any]) -> Json:
    """The schema of a value of a kind: once in the document if it is no enumeration."""
    return {"$ref": f"#/components/schemas/kind.{kind}"} if kind in _KINDS else dict(schema)


def openapi(style: Style) -> Json:
    """The document; shared, not to be changed."""
    return _made(style)


def record_schema(made: Api, record: str) -> Json:
    """JSON Schema of a record as shown."""
    fields = {field.name: field for field in RECORDS[record]}
    properties: Json = {}
    required: list[str] = []
    for column in made.columns(record):
        field = fields[column.name]
        if not field.documented:
            continue
        schema = _schema(field.kind, column.codec.schema)
        if field.nullable and column.keep_null:
            schema = {"anyOf": [schema, {"type": "null"}]}
        properties[column.shown] = {**schema, "description": field.text}
        if not column.optional:
            required.append(column.shown)
    return {"type": "object", "properties": properties, "required": required}


def _error_name(style: Style) -> str:
    name = "Error"
    while name in style.names.records.values():
        name += "Answer"
    return name


def _error_schema(style: Style) -> Json:
    shape = style.errors
    properties: Json = {
        shape.code: {"type": "string", "enum": list(shape.codes.values())},
        shape.message: {"type": "string"},
        shape.details: {"type": "object"},
    }
    required = [shape.code, shape.message]
    if shape.status:
        properties[shape.status] = {"type": "integer"}
        required.append(shape.status)
    inner: Json = {"type": "object", "properties": properties, "required": required}
    if shape.kind == "flat":
        return inner
    outer = {"type": "array", "items": inner, "minItems": 1} if shape.kind == "list" else inner
    return {"type": "object", "properties": {shape.outer: outer}, "required": [shape.outer]}


def _operation(made: Api, operation: Operation) -> Json:
    style, endpoint = made.style, operation.endpoint
    out: Json = {
        "operationId": style.names.operations[endpoint.tool],
        "summary": endpoint.text,
        "tags": [style.names.sections[endpoint.resource]],
        "parameters": _parameters(made, operation),
        "responses": _responses(made, operation),
    }
    if endpoint.deprecated:
        out["deprecated"] = True
    if operation.body:
        required = [param.shown for param in operation.body.values() if param.required]
        schema = _body_schema(operation)
        out["requestBody"] = {"required": bool(required), "content": {"application/json": {"schema": schema}}}
    return out


def _body_schema(operation: Operation) -> Json:
    """JSON Schema of a body; null counts as left out."""
    properties: Json = {}
    for param in operation.body.values():
        schema = _schema(param.kind, param.codec.schema)
        if not param.required:
            schema = {"anyOf": [schema, {"type": "null"}]}
        properties[param.shown] = {**schema, "description": param.text}
    required = [param.shown for param in operation.body.values() if param.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _parameters(made: Api, operation: Operation) -> list[Json]:
    style = made.style
    out = [_parameter(param, "path") for param in operation.path]
    out += [_parameter(param, "query") for param in operation.query.values()]
    if operation.endpoint.many:
        out += [
            {"name": name, "in": "query", "required": False, "schema": schema}
            for name, schema in paging_schemas(style).items()
        ]
    if operation.version is not None and operation.version_place == "header":
        pattern = '^"[0-9]{1,9}"$' if style.etag else "^[0-9]{1,9}$"
        out.append(_parameter(operation.version, "header", {"type": "string", "pattern": pattern}))
    if operation.key is not None and style.key_place == "header":
        schema = {"type": "string", "pattern": rf"^[!-~]{{1,{LONGEST_KEY}}}$"}
        out.append(_parameter(operation.key, "header", schema))
    return out


def _parameter(param: Param, place: str, schema: Mapping[str, Any] | None = None) -> Json:
    return {
        "name": param.shown,
        "in": place,
        "required": param.required or place == "path",
        "description": param.text,
        "schema": dict(schema or _schema(param.kind, param.codec.schema)),
    }


def paging_schemas(style: Style) -> Json:
    """Names of the paging parameters of a list → their schemas."""
    paging = style.paging
    place: Json
    if paging.kind == "cursor":
        place = {"type": "string", "minLength": 1, "description": f"the {paging.following} of the page before"}
    elif paging.kind == "offset":
        most = LARGEST_PAGE_NUMBER * LARGEST_PAGE
        place = {"type": "integer", "minimum": 0, "maximum": most, "description": f"a multiple of {paging.size}"}
    else:
        last = LARGEST_PAGE_NUMBER + paging.first - 1
        place = {"type": "integer", "minimum": paging.first, "maximum": last, "description": "number of the page"}
    size = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": PAGE_SIZE}
    return {paging.place: place, paging.size: {**size, "description": "records a page"}}


def _responses(made: Api, operation: Operation) -> Json:
    style, endpoint = made.style, operation.endpoint
    record = {"$ref": f"#/components/schemas/{style.names.records[endpoint.returns]}"}
    schema = (
        _list_schema(made, endpoint.returns, record)
        if endpoint.many
        else _single_schema(made, endpoint.returns, record)
    )
    answer: Json = {"description": "what has been asked for", "content": {"application/json": {"schema": schema}}}
    headers = _headers(made, operation)
    if headers:
        answer["headers"] = headers
    status = style.created if endpoint.tool.startswith("create") else 200
    return {
        str(status): answer,
        "default": {"$ref": "#/components/responses/Error"},
    }


def _headers(made: Api, operation: Operation) -> Json:
    style, endpoint = made.style, operation.endpoint
    out: Json = {}
    if endpoint.many and style.paging.kind == "link":
        out["Link"] = {"required": True, "schema": {"type": "string"}}
        out[style.paging.total] = {"required": True, "schema": {"type": "integer", "minimum": 0}}
    versioned = any(field.name == "version" for field in RECORDS[endpoint.returns])
    if not endpoint.many and versioned and style.version_place == "header":
        out["ETag" if style.etag else style.version_name] = {"required": True, "schema": {"type": "string"}}
    if endpoint.deprecated:
        out["Deprecation"] = {"required": True, "schema": {"type": "string"}}
    return out


def _constants(style: Style) -> Json:
    return {name: {"const": value} for name, value in style.envelope.constants}


def _single_schema(made: Api, record: str, schema: Json) -> Json:
    key = made.single_key(record)
    if not key:
        return schema
    properties = {**_constants(made.style), key: schema}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list_schema(made: Api, record: str, schema: Json) -> Json:
    style, paging = made.style, made.style.paging
    items = {"type": "array", "items": schema}
    if made.bare_list():
        return items
    text: Json = {"type": "string"}
    count: Json = {"type": "integer", "minimum": 0}
    meta: Json = {} if paging.kind == "link" else {paging.total: count}
    optional: set[str] = set()
    if paging.kind in ("cursor", "links"):
        following = text if style.omit_nulls else {"type": ["string", "null"]}
        meta |= {paging.own: text, paging.following: following}
        optional = {paging.following} if style.omit_nulls else set()
    elif paging.kind != "link":
        meta |= {paging.place: count, paging.size: count}
    properties: Json = {**_constants(style), made.many_key(record): items}
    needed = [name for name in meta if name not in optional]
    if style.envelope.meta and meta:
        properties[style.envelope.meta] = {"type": "object", "properties": meta, "required": needed}
        needed = []
    required = [*properties, *needed]
    if not style.envelope.meta:
        properties |= meta
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
