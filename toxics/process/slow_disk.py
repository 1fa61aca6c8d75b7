"""Slow disk: on one broker each append to a log waits, and each fsync of a segment far longer.

As on a disk that is saturated, where writes wait for room in the page cache and ``FileChannel.force`` for everything
before it. The wait is in ``FileRecords.append`` and ``FileRecords.flush``, under the lock of the log, as there: request
handlers, replica fetchers, the flush of a rolled segment and the broker's copy of the metadata log all meet it;
snapshots of producers, indexes and checkpoints do not. Needs the power to load rules into a broker. Counts the kinds of
operations that waited.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.contract.byteman.rule_text import rule
from harness.faults.brokers.node_rules import NodeRules
from harness.faults.typed_draws import number

APPEND_MS, FORCE_MS = (5, 40), (100, 800)
RECORDS = "FileRecords"
"""Without its package, which 4.2 has changed (``org.apache.kafka.common.record``)."""


def _drawn(draw: Random) -> Mapping[str, Json]:
    return {"append_ms": draw.randint(*APPEND_MS), "force_ms": draw.randint(*FORCE_MS)}


def _rules(chosen: Mapping[str, Json]) -> str:
    append = rule("appends that waited", f"{RECORDS}#append", f"delay({number(chosen, 'append_ms')})")
    return append + rule("fsyncs that waited", f"{RECORDS}#flush", f"delay({number(chosen, 'force_ms')})")


TOXIC = NodeRules(name="slow-disk", draw_values=_drawn, rules=_rules, how="kinds of operations that were slow")
