"""The port of the gate: what fault targets and toxics need of a proxy that understands Kafka's frames.

Filled by :mod:`harness.faults.gate.gate`. A fault target is made with an opener, so that a requirement, which
imports faults, does not import the gate.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from harness.base.addresses import Address
from harness.cluster.cluster import Links
from harness.evidence.client_evidence import Frame
from harness.faults.frame_rule import Rule, RuleReport


class GateFailed(Exception):
    """The gate cannot be put behind a proxy, does not know a rule, or has ended; the text is which."""


class RuleHandle(Protocol):
    """A rule that is on."""

    def report(self) -> RuleReport:
        """What it has done so far; also after it is off."""

    def off(self, *, await_answers: bool = True) -> RuleReport:
        """Take it off, deliver what it holds, and give its last report. Twice is no error.

        :param await_answers: Wait a little for answers to what it forwarded, so that the report has them.
        """


class FrameGate(Protocol):
    """A proxy for Kafka's frames behind the proxies of a cluster. Safe to use from any thread."""

    def intercept(self, *proxies: str) -> None:
        """Lead these proxies through the gate. Their open connections end once; those that follow pass the gate.

        :raises GateFailed: Where the proxies cannot reach the gate.
        """

    def stand_before(self, name: str, address: Address) -> Address:
        """Forward to a broker that is reached through no proxy; rules know the way by ``name``. Where to connect."""

    def add_rule(self, rule: Rule) -> RuleHandle:
        """Put a rule on, under its name and a number that makes it unique.

        :raises GateFailed: When the gate refuses it, or has ended.
        """

    def watch(self, prefix: str) -> None:
        """Log the requests of clients whose ids begin so, and their answers, from now on; what was logged is forgotten.

        :raises GateFailed: When the gate has ended; so do the next two.
        """

    def frames(self, prefix: str) -> tuple[Frame, ...]:
        """What was logged since :meth:`watch`, in the order of ``number``, as far as it is known by now.

        Times are milliseconds of this machine's monotonic clock. Where a log was full, :meth:`errors` says so.

        :raises GateFailed: When such clients are not watched, by that prefix or a shorter one.
        """

    def unwatch(self, prefix: str) -> None:
        """Log them no longer, and forget what was logged. Twice is no error."""

    def errors(self) -> tuple[str, ...]:
        """What went wrong in the gate itself, its own end included; a request that it could not judge has passed."""

    def notes(self) -> tuple[str, ...]:
        """What a reader of the round should know and what is no error: a broker that has no lane."""

    def close(self) -> None:
        """Proxies lead to where they led at first; held requests are lost. May be called twice; never raises."""


GateOpener: TypeAlias = Callable[[Links], FrameGate]
