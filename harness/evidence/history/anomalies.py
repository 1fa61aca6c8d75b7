"""The anomalies that a judge of chaos histories may name, and the terms of their definitions.

*Segment*: the records of one producer id on one partition between two of its control markers in the raw log; it is
committed, aborted or open by the marker that ends it. A segment *belongs to* the transaction of its records; where it
has records of several, to the one that began last. A record that is not transactional is committed by itself.
*Committed log*: the records of committed segments, in offset order. *View*: what a reader delivered (the committed log
is a view itself, called ``log``); a view is judged for what is missing only below the offset to which it came.
*Promised*: a record whose ``produce`` was done, of a transaction whose ``commit`` was done. An unsure commit promises
all or nothing, an unsure produce promises nothing.

One cause has one name: the first that fits, by :attr:`harness.evidence.anomaly.Anomaly.order`. A reader is accused only
of what the log does not explain: a record that the log itself commits wrongly, or lacks, is the log's anomaly, not that
of everyone who read it. What a reader owes is the committed log below its end, promised or not. A reader of kind
``actor``, or one that has no row in ``readers``, stops anywhere and reads again: nothing is missing for it, and an
offset twice is no duplicate. Readers of ``read_uncommitted`` deliver no dirty and no aborted reads. Of a partition
whose log does not reach its high watermark nothing is reported as missing or open; the check is undecided. What lies
below a partition's log start is not missing.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from harness.base.bound_values import bound
from harness.base.kafka_error import KafkaError
from harness.base.paths import ANOMALIES
from harness.evidence.anomaly import Anomaly

FENCING = (KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.INVALID_PRODUCER_ID_MAPPING, KafkaError.PRODUCER_FENCED)
"""Errors that a broker answers to a fenced producer."""

PROBE = "probe-"
"""Actors whose name begins so act after heal only, to see that the cluster serves again.

``probe-<broker>`` writes through that broker as its coordinator. A try that fails is followed, within a bound, by
``probe-<broker>.2``, ``.3`` and so on, each a transaction of its own under the same transactional id. They are one
probe: it was brought to its end when any of them has a commit that was done.
"""


@cache
def find_anomalies(folder: Path = ANOMALIES) -> Mapping[str, Anomaly]:
    """Every anomaly by its name, in their order: the files under ``suites/anomalies`` that bind ``ANOMALY``.

    :raises ValueError: When two files give the same name or order.
    """
    found = [anomaly for _, anomaly in bound(folder, "ANOMALY") if isinstance(anomaly, Anomaly)]
    for key in ("name", "order"):
        values = [getattr(anomaly, key) for anomaly in found]
        if twice := {value for value in values if values.count(value) > 1}:
            raise ValueError(f"two anomalies have the {key} {min(twice)}")
    return {anomaly.name: anomaly for anomaly in sorted(found, key=lambda anomaly: anomaly.order)}
