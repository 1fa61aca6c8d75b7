"""Tables of a history as typed Parquet, made by Arrow: it takes a seventh of the CPU of Spark's own reader of JSON.

Rows are lines of JSON, and those that Spark's readers delivered. Absent columns that have a default get it, and values
are taken apart, as :func:`harness.spark.history.table_schema.complete` does with Parquet of other tools.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json, parquet

from harness.spark.history.table_schema import NUMBER, PARTS, VALUED, Field, table_fields
from harness.spark.readers.sink_files import delivered_files

BLOCK_BYTES = 16 << 20
"""Of lines that are read at a time; no line may be longer."""
ROWS = 50_000
"""Of a row group at least, where there are as many: Spark's readers deliver in hundreds of small files."""
TYPES: Mapping[type, Any] = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}
*COUNTED, LAST = PARTS.names
VALUE = "^" + "".join(f"(?P<{name}>{NUMBER})/" for name in COUNTED) + f"(?P<{LAST}>(?s:.*))$"
PART_TYPES: Mapping[str, Any] = {**dict.fromkeys(COUNTED, pa.int64()), LAST: pa.string()}


def write_table(table: str, lines: Path, place: Path, *, whole: int) -> None:
    """Make the Parquet of a table in the folder ``place``, which is made.

    :param lines: Its lines of JSON, in the ``history`` of a round's folder; such as
        :func:`harness.evidence.json_lines.first_misfit` lets pass.
    :param whole: Bytes of them that are whole lines.
    :raises pyarrow.ArrowException: When they do not fit the table.
    """
    delivered = _delivered(lines.parent.parent) if table == "reads" else iter(())
    place.mkdir(parents=True, exist_ok=True)
    batches = (_complete(table, batch) for batch in chain(_lines(table, lines, whole), delivered))
    with parquet.ParquetWriter(place / "part-0.parquet", _schema(table), store_schema=False) as writer:
        for group in _row_groups(batches):
            writer.write_table(group)


def _row_groups(batches: Iterable[Any]) -> Iterator[Any]:
    several, rows = list[Any](), 0
    for batch in batches:
        several.append(batch)
        rows += batch.num_rows
        if rows >= ROWS:
            yield pa.Table.from_batches(several)
            several, rows = [], 0
    if several:
        yield pa.Table.from_batches(several)


def _schema(table: str) -> Any:
    return pa.schema([*_columns(table), *(PART_TYPES.items() if table in VALUED else ())])


def _columns(table: str) -> list[tuple[str, Any]]:
    return [(field.name, TYPES[field.kind]) for field in table_fields(table)]


def _lines(table: str, path: Path, whole: int) -> Iterator[Any]:
    if not whole:
        return
    with pa.memory_map(str(path)) as mapped:
        lines = pa.BufferReader(mapped.read_buffer(whole))
        reading = json.ReadOptions(block_size=BLOCK_BYTES)
        columns = pa.schema(_columns(table))
        parsing = json.ParseOptions(explicit_schema=columns, unexpected_field_behavior="error")
        with closing(json.open_json(lines, read_options=reading, parse_options=parsing)) as batches:
            yield from batches


def _delivered(folder: Path) -> Iterator[Any]:
    """Spark delivers without order and without times, so ``position`` and ``at`` are null."""
    for reader, path in delivered_files(folder):
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield batch.append_column("reader", pa.repeat(reader, batch.num_rows))


def _complete(table: str, batch: Any) -> Any:
    columns = [_column(batch, field) for field in table_fields(table)]
    parts = _parts_of_value(batch.column("value")) if table in VALUED else []
    return pa.record_batch([*columns, *parts], schema=_schema(table))


def _column(batch: Any, field: Field) -> Any:
    kind = TYPES[field.kind]
    absent = field.name not in batch.schema.names
    column = pa.nulls(batch.num_rows, kind) if absent else batch.column(field.name).cast(kind)
    return column if field.default is None else pc.fill_null(column, pa.scalar(field.default, kind))


def _parts_of_value(value: Any) -> list[Any]:
    """All null where it is none of ours."""
    parts = pc.extract_regex(value, VALUE)
    return [pc.struct_field(parts, name).cast(kind) for name, kind in PART_TYPES.items()]
