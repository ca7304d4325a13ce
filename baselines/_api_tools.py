"""The operations of an API that has been read, as if each was a tool: what agents take that call whatever there is.

The name of such a tool is its method and path, its arguments are the parameters wherever they stand, by the names of
the fields that they are: values go by those.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentgym.baselines._api_reader import ApiReader, Operation, Param

Json = dict[str, Any]

_VERSION, _RISES = "the version that was read", "rises with every change"


class ApiTools:
    """The operations of an API.

    Args:
        reader: it has read the document.

    Attributes:
        schemas: name → JSON schema of the arguments, with ``examples`` where the document has any. ``optional`` says
            that all but the required ones may be left out, each for itself and together.
        reads, writes: names.
        texts: name → what it does.
    """

    def __init__(self, reader: ApiReader) -> None:
        self._reader = reader
        self._operations = {f"{each.method} {each.path}": each for each in reader.document.operations}
        fields = [(name, text) for record in reader.document.records.values() for name, text, _ in record]
        self._fields = sorted({name for name, _ in fields}, key=lambda name: (-len(name), name))
        self._examples = dict(_examples(fields, reader.document.operations))
        self._version = next((name for name, text in fields if text.startswith(_RISES)), "version")
        self.schemas = {name: self._schema(each) for name, each in self._operations.items()}
        self.reads = [name for name, each in self._operations.items() if not each.writes]
        self.writes = [name for name, each in self._operations.items() if each.writes]
        self.texts = {name: each.text for name, each in self._operations.items()}

    def request(self, name: str, arguments: Json) -> Json:
        """The arguments of ``http_request`` for a call."""
        operation = self._operations[name]
        given: Json = {}
        for param in operation.params:
            value = arguments.get(self._key(param))
            given[param.name] = param.format.write(value) if param.text == _VERSION and value is not None else value
        return self._reader.request(operation, given)

    def _key(self, param: Param) -> str:
        """The field that a parameter is: it may be dressed up, as in ``filter[site]`` or ``by_site``."""
        if param.text == _VERSION:
            return self._version
        if param.name in self._fields:
            return param.name
        return next((name for name in self._fields if param.name.strip("[]").endswith(name)), param.name)

    def _schema(self, operation: Operation) -> Json:
        properties = {self._key(param): self._property(param) for param in operation.params}
        required = [self._key(param) for param in operation.params if param.required]
        return {"type": "object", "properties": properties, "required": required, "optional": True}

    def _property(self, param: Param) -> Json:
        kind, example = param.format.kind, param.format.example
        if param.text == _VERSION:
            return {"type": "integer", "minimum": 0}
        if kind in ("id", "text"):
            known = self._examples.get(self._key(param), "")
            return {"type": "string"} | ({"description": f'e.g. "{known}"'} if known else {})
        if param.format.type == "array":
            person = next((text for text in self._examples.values() if text), "")
            return {"type": "array", "items": {"type": "string", "description": f'e.g. "{person}"'}}
        if param.format.type == "object":
            return {"type": "object", "examples": [{param.format.amount: "10.00", param.format.currency: "EUR"}]}
        if not example:
            return dict(param.schema)
        number = {"number": float, "integer": int}.get(param.format.type)
        return {**param.schema, "examples": [number(example) if number else example]}


def _examples(fields: list[tuple[str, str]], operations: list[Operation]) -> Iterator[tuple[str, str]]:
    """Name of a field → an id that the document gives as an example of it, such as E1042."""
    said = [(param.name, param.text) for each in operations for param in each.params]
    for name, text in [*fields, *said]:
        if " such as " in text:
            yield name, text.rpartition(" such as ")[2]
