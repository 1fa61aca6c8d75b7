"""What became last of each transactional id, as far as its requests and their answers passed the gate."""

from dataclasses import dataclass, field

from harness.base.kafka_error import KafkaError
from harness.faults.frame_rule import Step
from harness.faults.gate.request_info import IDENTITY_APIS, RequestInfo

WRITES = ("Produce", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit")
"""APIs whose requests open a transaction, or go on in it."""


@dataclass(slots=True)
class LastStep:
    """Of one id.

    :param answered: ``init``, ``commit`` or ``abort``; empty where no such answer was seen.
    :param written: Which of :data:`WRITES` were asked since.
    """

    answered: Step = ""
    written: set[str] = field(default_factory=set)


@dataclass(slots=True)
class LatestSteps:
    """By transactional id."""

    by_id: dict[str, LastStep] = field(default_factory=dict)

    def fits(self, info: RequestInfo, after: Step) -> bool:
        """Whether this is the step before the request, of the first id that it names."""
        if not after:
            return True
        if not info.transactional_ids:
            return False
        last, api = self.by_id.get(info.transactional_ids[0]), info.header.api
        if last is None or after == "nothing":
            return last is None and after == "nothing"
        if after == "write":
            return bool(last.written)
        return last.answered == after and api not in last.written and (api in WRITES or not last.written)

    def asked(self, info: RequestInfo) -> None:
        """A request passes, or waits."""
        if info.header.api in WRITES and info.adds is not False:
            for one in info.transactional_ids:
                self.by_id.setdefault(one, LastStep()).written.add(info.header.api)

    def answered(self, info: RequestInfo, error: int | None) -> None:
        """Its answer passes."""
        if error == 0 and info.header.api in IDENTITY_APIS:
            step: Step = "init" if info.commits is None else "commit" if info.commits else "abort"
            self.by_id.update({one: LastStep(step) for one in info.transactional_ids})
        elif error == KafkaError.CONCURRENT_TRANSACTIONS:  # so its coordinator knows it
            for one in info.transactional_ids:
                self.by_id.setdefault(one, LastStep())
