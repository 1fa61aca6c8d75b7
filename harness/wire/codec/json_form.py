"""kio entities as JSON for the journal: snake-case keys, durations and times in milliseconds, no bytes."""

from dataclasses import is_dataclass
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

from kio.static.protocol import Entity

from harness.base.json_value import Json
from harness.wire.codec.entity_schema import field_shapes
from harness.wire.records.record_batch import LogBatch, read_log, text
from harness.wire.wire_errors import UnreadableRecords


def json_form(entity: object) -> dict[str, Json]:
    """A request or an answer as JSON. Record batches are decoded in place; other bytes are hexadecimal text."""
    schema = cast(type[Entity], type(entity))
    return {
        shape.name: _records(getattr(entity, shape.name))
        if shape.kind == "records"
        else _value(getattr(entity, shape.name))
        for shape in field_shapes(schema)
    }


def _value(value: object) -> Json:
    match value:
        case None | bool() | float() | str():
            return value
        case int():
            return int(value)
        case timedelta():
            return round(value / timedelta(milliseconds=1))
        case datetime():
            return round(value.timestamp() * 1000)
        case UUID():
            return str(value)
        case bytes():
            return value.hex()
        case tuple():
            return [_value(item) for item in value]
        case _ if is_dataclass(value):
            return json_form(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _records(octets: bytes | None) -> Json:
    if octets is None:
        return None
    try:
        return [_batch(batch) for batch in read_log(octets)]
    except UnreadableRecords as error:  # the journal keeps the reason and the size
        return {"unreadable": str(error), "size": len(octets)}


def _batch(batch: LogBatch) -> Json:
    evidence = batch.as_evidence()
    return {
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "attributes": batch.attributes,
        "max_timestamp_ms": batch.max_timestamp_ms,
        "control": evidence.control,
        "coordinator_epoch": evidence.coordinator_epoch,
        "keys": []
        if batch.is_control
        else [None if record.key is None else text(record.key) for record in batch.records],
        "values": list(evidence.values),
    }
