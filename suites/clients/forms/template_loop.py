"""The loop of KIP-691's template: consume, transform, produce; commit, or abort and begin anew.

After an abort the template goes back to the group's committed offsets. Here a new instance does, because an adapter's
consumer begins at them; that the same producer goes on is for other promises.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.evidence.client_evidence import ReadRecord
from harness.lab.clients import Application, ClientLab
from harness.lab.clients.client_lab import Settings
from harness.lab.partition import Group, Partition

TIMES: Settings = {"session_timeout_ms": 6_000, "delivery_timeout_ms": 8_000, "request_timeout_ms": 3_000}
TRIES = 3
"""Of one round, after which it is left to the next."""
JOIN_MS = 12_000
"""A member that went without a word is waited for until its session is over."""


def transformed(value: str) -> str:
    """What the loop writes for an input."""
    return f"out of {value}"


@dataclass(slots=True, kw_only=True)
class TemplateLoop:
    """One application at a time, of one transactional id and one group."""

    lab: ClientLab
    source: Partition
    target: Partition
    group: Group
    app: Application = field(init=False)
    instances: int = 0

    def __post_init__(self) -> None:
        """The first instance."""
        self.app = self._instance(None)

    def round(self, count: int, step: str) -> bool:
        """Process so many inputs; whether they are committed."""
        for _ in range(TRIES):
            if self._through():
                return True
            records = self.app.poll_all(count, within_ms=JOIN_MS, as_=f"{step} poll")
            if records and self._transaction(records, step):
                return True
        return False

    def _through(self) -> bool:
        """Whether the group has committed all there is: of an end that was not confirmed nobody else tells."""
        look = self.lab.lab.observer
        committed = look.committed_offset(self.group, self.source, require_stable=True, as_="group")
        return committed.answer_int("offset") == look.end_offset(self.source)

    def _transaction(self, records: Sequence[ReadRecord], step: str) -> bool:
        app = self.app
        app.begin(as_=f"{step} begin")
        produced = app.produce(self.target, *(transformed(each.value) for each in records), as_=f"{step} produce")
        offsets = app.send_offsets(self.group, {self.source: records[-1].offset + 1}, as_=f"{step} offsets")
        if produced.done and offsets.done:
            committed = app.commit(as_=f"{step} commit")
            if committed.outcome == "unsure":
                committed = app.commit(as_=f"{step} commit")
            if committed.done:
                return True
        self._go_back(step)
        return False

    def _go_back(self, step: str) -> None:
        """Abort, and go on with a new instance, which reads from the committed offsets."""
        before = self.app
        before.abort(as_=f"{step} abort")
        before.close()
        self.app = self._instance(before)

    def _instance(self, before: Application | None) -> Application:
        self.instances += 1
        app = self.lab.application(f"loop{self.instances}", same_id=before, group=self.group, **TIMES)
        app.init()
        app.subscribe(self.source)
        return app
