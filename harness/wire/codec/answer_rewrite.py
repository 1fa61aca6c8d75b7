"""A message with another error code or other fields, whatever its API and version.

Fields are named as in Kafka's message schemas, in snake case, and are changed wherever they stand in the message.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from kio.static.protocol import Entity

from harness.base.json_value import Json
from harness.wire.codec.entity_schema import FieldShape, field_shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRewrite:
    """What is changed.

    :param error: Put in place of the innermost error codes: a partition's, where the answer has one for each.
    :param instead_of: Only error codes that are this one, and nothing at all where none is.
    :param fields: Other values, by name; a part of a message is given by all of its fields.
    :param shift: Numbers that are added to fields, by name.
    """

    error: int | None = None
    instead_of: int | None = None
    fields: Mapping[str, Json] = field(default_factory=dict)
    shift: Mapping[str, int] = field(default_factory=dict)

    def of(self, body: object) -> object:
        """The message changed; the same object where there is nothing to change."""
        if self.instead_of is not None and self.instead_of not in innermost_errors(body):
            return body
        return self._entity(body)

    def _entity(self, entity: object) -> object:
        values = {shape.name: getattr(entity, shape.name) for shape in _shapes(entity)}
        rewritten = {shape.name: self._field(entity, shape, values[shape.name]) for shape in _shapes(entity)}
        return entity if rewritten == values else replace(cast(Any, entity), **rewritten)

    def _field(self, entity: object, shape: FieldShape, value: Any) -> object:
        if shape.name in self.fields:
            given = self.fields[shape.name]
            return tuple(_part(shape, each) for each in given) if isinstance(given, list) else given
        if shape.name in self.shift:
            return value + self.shift[shape.name]
        if shape.kind == "error_code" and self.error is not None and not _inner_errors(entity):
            return self.error if self.instead_of in (None, value) else value
        if shape.entity is None or value is None:
            return value
        return tuple(map(self._entity, value)) if shape.array else self._entity(value)


def _part(shape: FieldShape, given: Json) -> object:
    """An element of an array."""
    return shape.entity(**given) if shape.entity is not None and isinstance(given, dict) else given


def innermost_errors(entity: object) -> tuple[int, ...]:
    """The error codes of the parts of a message, its own where no part has one."""
    inner = _inner_errors(entity)
    return inner or tuple(getattr(entity, shape.name) for shape in _shapes(entity) if shape.kind == "error_code")


def _inner_errors(entity: object) -> tuple[int, ...]:
    return tuple(
        error
        for shape in _shapes(entity)
        if shape.entity is not None and (value := getattr(entity, shape.name)) is not None
        for part in (value if shape.array else (value,))
        for error in innermost_errors(part)
    )


def _shapes(entity: object) -> tuple[FieldShape, ...]:
    return field_shapes(cast(type[Entity], type(entity)))
