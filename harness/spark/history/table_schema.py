"""The history's tables as Spark sees them: columns and types out of the dataclasses, which alone define them."""

import enum
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, DoubleType, LongType, StringType, StructField, StructType

from harness.base.json_value import Json
from harness.evidence.history.history_journal import TABLES

SPARK_TYPES: Mapping[type, type[DataType]] = {int: LongType, float: DoubleType, str: StringType, bool: BooleanType}
VALUED = ("log", "reads")
"""Tables whose ``value`` is taken apart into the columns of :data:`PARTS`."""
NUMBER = "[0-9]{1,18}"
"""A part of a value that is a number: none that 64 bits cannot have."""
PARTS = StructType(
    [
        StructField("txn", LongType()),
        StructField("ordinal", LongType()),
        StructField("size", LongType()),
        StructField("payload", StringType()),
    ]
)
"""The parts of a :class:`~harness.evidence.history.operation.Value`: all null for one that no workload writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column of a table.

    :param required: It must be there.
    :param nullable: It may be null.
    :param default: What an absent one means; None for null.
    :param allowed: The only values that it may have; empty for any.
    """

    name: str
    kind: type
    required: bool
    nullable: bool
    default: Json
    allowed: tuple[str, ...]

    @property
    def type(self) -> DataType:
        return SPARK_TYPES[self.kind]()


def table_fields(table: str) -> tuple[Field, ...]:
    """The columns of a table, in order.

    >>> [field.name for field in table_fields("offsets")]
    ['group', 'topic', 'partition', 'offset']
    """
    hints = typing.get_type_hints(TABLES[table])
    return tuple(
        _field(each.name, hints[each.name], None if each.default is MISSING else each.default, each.default is MISSING)
        for each in fields(TABLES[table])
    )


def schema(table: str) -> StructType:
    """The table's columns for a reader of files: every one may be null there; what may not is checked apart."""
    return StructType([StructField(field.name, field.type) for field in table_fields(table)])


def sealed_schema(table: str) -> StructType:
    """The columns of the table once it is sealed: with the parts of its value, where it has one."""
    plain = schema(table)
    return StructType([*plain.fields, *PARTS.fields]) if table in VALUED else plain


def parts_of_value() -> list[Column]:
    """The columns of :data:`PARTS` out of ``value``; all null where it is none of ours."""
    ours = F.col("value").rlike(f"^({NUMBER}/){{{len(PARTS) - 1}}}")
    pieces = F.split("value", "/", 4)
    return [
        F.when(ours, F.get(pieces, F.lit(place)).cast(field.dataType)).alias(field.name)
        for place, field in enumerate(PARTS.fields)
    ]


def _field(name: str, hint: object, default: Json, required: bool) -> Field:
    kinds = [kind for kind in _alternatives(hint) if kind is not type(None)]
    allowed = _allowed(kinds[0])
    return Field(
        name=name,
        kind=str if allowed else typing.cast(type, kinds[0]),
        required=required,
        nullable=type(None) in _alternatives(hint),
        default=default if type(None) not in _alternatives(hint) else None,
        allowed=allowed,
    )


def _alternatives(hint: object) -> tuple[object, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _allowed(kind: object) -> tuple[str, ...]:
    if typing.get_origin(kind) is typing.Literal:
        return tuple(map(str, typing.get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return tuple(str(member.value) for member in kind)
    return ()
