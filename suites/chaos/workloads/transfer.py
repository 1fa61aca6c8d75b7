"""Transfer: money moves between accounts, each move one transaction; the sum of all accounts stays.

Debit and credit go to different partitions, so that a transaction of which only half shows breaks the sum.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role, numbered
from harness.chaos.play.actor import Actor

ACCOUNTS = 24
ABORTED = 0.15
"""Share of transactions that are aborted on purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Tellers move money between accounts.

    :param request_ms: What a teller gives one operation; short ones give up on late answers.
    """

    tellers: int = 3
    partitions: int = 6
    request_ms: int = 3_000
    name: str = "transfer"

    @property
    def topics(self) -> Mapping[str, int]:
        """One topic of accounts."""
        return {"accounts": self.partitions}

    def roles(self) -> Sequence[Role]:
        """Each teller has its own transactional id; lanes in turn."""
        teller = Role(name="teller", transactional_id="teller", run=self._run, request_ms=self.request_ms)
        return numbered(self.tellers, teller)

    def _run(self, actor: Actor, draw: Random) -> None:
        while not actor.over:
            records, commit = move(draw, self.partitions)
            actor.transact(records, commit=commit)
            actor.pause(draw.uniform(0, 0.02))

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Transfers one after the other in one transaction, until it has so many records."""
        first, commit = move(draw, self.partitions)
        written = [*first]
        while len(written) < records:
            written += move(draw, self.partitions)[0]
        return written, commit


def move(draw: Random, partitions: int) -> tuple[Sequence[RecordToWrite], bool]:
    """One transfer, perhaps split over two receivers, and whether it is to be committed."""
    payer, *receivers = draw.sample(range(ACCOUNTS), draw.choice((2, 2, 3)))
    amounts = [draw.randint(1, 100) for _ in receivers]
    entries = [(payer, -sum(amounts)), *zip(receivers, amounts, strict=True)]
    records = [
        RecordToWrite(topic="accounts", partition=account % partitions, payload=f"money:{account}:{amount:+d}")
        for account, amount in entries
    ]
    return records, draw.random() >= ABORTED
