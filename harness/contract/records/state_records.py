"""Records of ``__transaction_state`` in evidence: facts from ``lab.observer.transaction_records``, a mapping each."""

from collections.abc import Mapping
from typing import TypeAlias

from harness.base.json_value import Json
from harness.contract import expect
from harness.evidence.requirement_evidence import Evidence, NotSeen

StateRecord: TypeAlias = Mapping[str, Json]


def state_records(seen: Evidence, name: str) -> tuple[StateRecord, ...]:
    """The records of this fact, in log order; :raises NotSeen: when there are none."""
    found = seen.fact(name)
    records = tuple(one for one in (found if isinstance(found, list) else ()) if isinstance(one, dict))
    if not records:
        raise NotSeen(f"{name}: no record")
    return records


def in_state(seen: Evidence, name: str, state: str) -> StateRecord:
    """The last record with this state; an empty one, which is as no check expects it, where there is none."""
    return next((one for one in reversed(state_records(seen, name)) if one.get("state") == state), {})


def recorded(what: str, record: StateRecord, *, otherwise: str, **promised: Json) -> expect.Observation:
    """The named fields of the record have these values; else the anomaly ``otherwise``."""
    seen = {name: record.get(name) for name in promised}
    return expect.agree(f"record of {what}", seen, promised, otherwise=otherwise)


def with_record(good: Evidence, name: str, state: str, /, **fields: Json) -> Evidence:
    """Doctored: the last record with this state has these fields."""
    records = list(state_records(good, name))
    records[records.index(in_state(good, name, state))] = {**in_state(good, name, state), **fields}
    return good.with_fact(name, [dict(record) for record in records])
