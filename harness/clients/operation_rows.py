"""Operations as the history keeps them, for whoever records a client's calls."""

from dataclasses import dataclass
from typing import Any, Literal

from harness.clients.client import CallResult
from harness.evidence.history.operation import Operation, Verb


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRows:
    """What every operation of one actor has in common.

    :param client: The adapter's name; ``protocol`` likewise as in :class:`harness.clients.client.Client`.
    """

    actor: str
    client: str
    protocol: Literal["v1", "v2"] | None
    transactional_id: str | None

    def row(
        self, verb: Verb, number: int, started: float, ended: float, result: CallResult, txn: int | None, **columns: Any
    ) -> Operation:
        """One operation.

        :param columns: What the call was made with.
        """
        return Operation(
            number=number,
            actor=self.actor,
            client=self.client,
            protocol=self.protocol,
            verb=verb,
            started=started,
            ended=ended,
            outcome=result.outcome,
            error=result.error,
            reason=result.reason,
            transactional_id=self.transactional_id,
            txn=txn,
            producer_id=result.producer_id,
            epoch=result.epoch,
            tries=result.tries,
            state=result.state or None,
            **{"offset": result.offset, **columns},
        )
