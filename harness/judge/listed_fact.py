"""A fact of ``run.json`` that is a list of records, read strictly."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from harness.base.json_value import Json
from harness.evidence.json_codec import Malformed, from_plain
from harness.evidence.run_facts import facts_of
from harness.spark.history.seal import refuse

RecordT = TypeVar("RecordT")


def listed_fact(run: Mapping[str, Json], fact: str, record: type[RecordT]) -> Sequence[RecordT]:
    """All of its records; none where the run does not have it.

    :raises UserError: For a fact of another shape: the evidence cannot be read.
    """
    told = facts_of(run).get(fact) or []
    try:
        if not isinstance(told, list):
            raise Malformed(f"it is no list: {told!r}")
        return [from_plain(record, each) for each in told]
    except Malformed as error:
        refuse(f"facts.{fact} of run.json cannot be read: {error}")
