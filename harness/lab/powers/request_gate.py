"""The gate as a stimulus uses it: single requests on a lane or a link are held, lost, repeated or answered otherwise.

What it really took is noted in the fault, so that a check can demand it (``expect.gated``). A proxy that is led through
the gate loses its open connections once; who sends next connects again.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypedDict

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.unprepared import OutOfReach, Unprepared
from harness.cluster.topology import Topology, lane_name
from harness.contract import Liar
from harness.evidence.json_codec import to_plain
from harness.evidence.requirement_evidence import Fault, GateStrike
from harness.faults.frame_gate import FrameGate, GateFailed, RuleHandle
from harness.faults.frame_rule import Action, Rule, RuleReport, Strike, Then, When
from harness.wire.codec.answer_rewrite import AnswerRewrite
from harness.wire.wire_client import WireClient

GateAction: TypeAlias = Literal[
    "hold", "hold-response", "drop-request", "drop-response", "repeat", "renumber", "rewrite", "refuse", "cap"
]
OpenGate: TypeAlias = Callable[[], FrameGate]
REWRITE = "harness.faults.gate.rewritten_answer:rewritten_answer"
REFUSE = "harness.faults.gate.refused_in_place:refused_in_place"
CAP = "harness.faults.gate.capped_versions:capped_versions"
LIES: Mapping[str, str] = {"rewrite": REWRITE, "refuse": REFUSE, "cap": CAP}
MET_SECONDS = 10.0
"""Seconds within which a request that a stimulus provokes must have come to the gate."""
AT_MOST_MS = 600_000
RECONNECT_SECONDS = 0.15
"""After a lost connection a broker fails requests to the other for 50 ms at once (``AddPartitionsToTxnManager`` and
``TransactionMarkerChannelManager`` have that backoff); a request that comes then would not reach the gate."""


class GateWish(TypedDict, total=False):
    """Which requests the gate takes, and how; the words of ``lab.gate``.

    ``versions``: lowest and highest request version. ``transactional_id``: of that producer alone. ``client_id``: of
    that client alone; one that ends in ``*`` is a prefix. ``skip``: so many of the fitting requests pass first.
    ``at_most``: so many are taken (1 where it is not given; None: all). ``alone``: requests after a held one overtake
    it. ``hang_up``: the sender's connection ends in place of the answer. ``rewrite``: what the answer becomes, see
    :class:`harness.wire.codec.answer_rewrite.AnswerRewrite`; ``error``, ``instead_of``, ``fields``, ``shift`` are its
    parts. ``cap``: answers to ApiVersions offer APIs up to these versions only. ``refuse``: the gate answers with
    ``error`` in the broker's place (``harness.faults.gate.refused_in_place``); ``only`` and ``log_start`` are as there,
    and with ``waits`` it answers when it is released.
    """

    versions: tuple[int, ...]
    transactional_id: str
    client_id: str
    skip: int
    at_most: int | None
    alone: bool
    hang_up: bool
    waits: bool
    only: tuple[str, ...]
    log_start: int
    error: int
    instead_of: int
    fields: dict[str, Json]
    shift: dict[str, int]
    cap: dict[str, int]


@dataclass(slots=True, kw_only=True)
class Gated:
    """A rule of the gate that is on; what it took so far."""

    rule: RuleHandle
    action: GateAction
    clock: RunClock
    ended: float | None = None
    last: RuleReport | None = field(default=None)

    def report(self) -> RuleReport:
        """What it has done so far."""
        return self.last or self.rule.report()

    def wait(self, count: int = 1) -> None:
        """Wait, bounded, until so many requests were taken; held answers must have come, lost ones too.

        :raises Unprepared: When they do not come: the situation was not brought about.
        """
        try:
            wait.until(lambda: self._met(count), what="", timeout_seconds=MET_SECONDS)
        except wait.TimedOut:
            seen = self.report()
            taken = f"{seen.struck} of {count} requests ({seen.holding} held, of {seen.seen} seen)"
            raise Unprepared(f"the gate took {taken} to {self.action}") from None

    def release(self) -> None:
        """Take the rule off: what it holds is delivered. A second time is no error."""
        if self.last is None:
            self.ended = self.clock.now()
            self.last = self.rule.off()

    def _met(self, count: int) -> bool:
        report = self.report()
        match self.action:
            case "hold" | "hold-response":
                return report.holding >= count
            case "drop-response" | "repeat" | "renumber":
                return report.struck - report.unanswered >= count
        return report.struck >= count


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestGate:
    """The run's gate, opened at first use, for one requirement; ``led`` are the proxies that lead through it.

    :param open_gate: None where single requests cannot be told apart.
    :param standing: Proxies that lead through it whatever this requirement does.
    """

    open_gate: OpenGate | None
    clock: RunClock
    led: set[str] = field(default_factory=set)
    standing: set[str] = field(default_factory=set)

    def stand_in(self, *proxies: str) -> None:
        """Lead these proxies through the gate, where they stay for those that come after.

        :raises GateFailed: When they cannot be.
        """
        self._opened().intercept(*proxies)
        self.standing.update(proxies)

    @contextmanager
    def on(
        self, *proxies: str, api: str, action: GateAction, name: str, faults: list[Fault], wish: GateWish
    ) -> Iterator[Gated]:
        """The rule is on for the length of the block; it is noted as a fault at its end.

        :raises Unprepared: When the gate cannot be put there.
        """
        started = self.clock.now()
        rule = Rule(name=name, proxies=proxies, when=_when(api, wish), then=_then(action, wish))
        gated = Gated(rule=self._added(rule, proxies), action=action, clock=self.clock)
        try:
            yield gated
        finally:
            gated.release()
            faults.append(_noted(gated, name, ", ".join(proxies), started))
            if wish.get("hang_up"):
                wait.pause(RECONNECT_SECONDS)

    @contextmanager
    def lies(self, liar: Liar, topology: Topology, observer: WireClient, faults: list[Fault]) -> Iterator[None]:
        """Answers on every lane are rewritten for the length of the block; the observer too reads through the gate."""
        lane = topology.lanes["observer"]
        observer.reach_by(
            {node: self._opened().stand_before(lane_name("observer", node), at) for node, at in lane.items()}
        )
        led = tuple(topology.lane_proxies.values())
        proxies, started = (*led, *(lane_name("observer", node) for node in lane)), self.clock.now()
        wish = _wish_of(liar)
        rule = Rule(name="liar", proxies=proxies, when=_when(liar.api, wish), then=_then("rewrite", wish))
        gated = Gated(rule=self._added(rule, led), action="rewrite", clock=self.clock)
        try:
            yield
        finally:
            gated.release()
            faults.append(_noted(gated, "liar", "all lanes", started))
            observer.reach_by(lane)

    def _opened(self) -> FrameGate:
        if self.open_gate is None:
            raise OutOfReach("no gate for single requests can stand before this cluster")
        return self.open_gate()

    def _added(self, rule: Rule, led: tuple[str, ...]) -> RuleHandle:
        try:
            gate = self._opened()
            if new := {*led} - self.led - self.standing:
                self.led.update(new)
                gate.intercept(*new)
                wait.pause(RECONNECT_SECONDS)
            return gate.add_rule(rule)
        except GateFailed as failed:
            raise Unprepared(str(failed)) from failed


def _when(api: str, wish: GateWish) -> When:
    transactional_id, client_id = wish.get("transactional_id"), wish.get("client_id")
    return When(
        apis=(api,),
        versions=wish.get("versions", ()),
        transactional_ids=(transactional_id,) if transactional_id else (),
        client_ids=(client_id,) if client_id else (),
        skip=wish.get("skip", 0),
        at_most=wish.get("at_most", 1),
    )


def _then(action: GateAction, wish: GateWish) -> Then:
    does: Action = "lie" if action in LIES else action  # type: ignore[assignment]  # the others are the gate's own
    return Then(
        action=does,
        alone=wish.get("alone", False),
        hang_up=wish.get("hang_up", False),
        waits=wish.get("waits", False),
        at_most_ms=AT_MOST_MS,
        lie=LIES.get(action, ""),
        with_=_arguments(action, wish),
    )


def _arguments(action: GateAction, wish: GateWish) -> dict[str, Json]:
    """Those of its lie."""
    match action:
        case "rewrite":
            return _rewrite(wish)
        case "refuse":
            return _refusal(wish)
        case "cap":
            return {**wish["cap"]}
    return {}


def _refusal(wish: GateWish) -> dict[str, Json]:
    refusal: dict[str, Json] = {"error": wish["error"]}
    if "only" in wish:
        refusal["only"] = [*wish["only"]]
    if "log_start" in wish:
        refusal["log_start"] = wish["log_start"]
    return refusal


def _rewrite(wish: GateWish) -> dict[str, Json]:
    rewrite = AnswerRewrite(
        error=wish.get("error"),
        instead_of=wish.get("instead_of"),
        fields=wish.get("fields", {}),
        shift=wish.get("shift", {}),
    )
    plain = to_plain(rewrite)
    assert isinstance(plain, dict)
    return plain


def _wish_of(liar: Liar) -> GateWish:
    wish: GateWish = {"versions": liar.versions, "skip": liar.skip, "at_most": liar.at_most}
    wish |= {"fields": dict(liar.fields), "shift": dict(liar.shift)}
    if liar.error is not None:
        wish["error"] = liar.error
    if liar.instead_of is not None:
        wish["instead_of"] = liar.instead_of
    return wish


def _noted(gated: Gated, name: str, where: str, started: float) -> Fault:
    report, clock = gated.report(), gated.clock
    return Fault(
        name=name,
        kind="gate",
        where=where,
        started=started,
        ended=clock.now() if gated.ended is None else gated.ended,
        action=gated.action,
        seen=report.seen,
        struck=report.struck,
        strikes=tuple(_strike(strike, clock) for strike in report.strikes),
    )


def _strike(strike: Strike, clock: RunClock) -> GateStrike:
    return GateStrike(
        at=clock.at(strike.at_ns),
        api=strike.api,
        version=strike.version,
        fate=strike.fate,
        delivered=None if strike.delivered_ns is None else clock.at(strike.delivered_ns),
        answered=None if strike.answered_ns is None else clock.at(strike.answered_ns),
        error=strike.error,
        transactional_ids=strike.transactional_ids,
        producer_id=strike.producer_id,
        epoch=strike.epoch,
    )
