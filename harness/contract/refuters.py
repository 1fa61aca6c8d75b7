"""What makes a requirement turn VIOLATED live: an older release, or in a sound one a setting, a failpoint or a liar."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.base.json_value import Json

BASELINE = "4.3.1"
"""The sound release in which settings and failpoints are tried, unless a refuter names another."""

SOUND_CLIENT = "java:4.3.1"
"""The client with which liars and broken brokers are tried, unless a refuter names another."""

VERIFICATION = "transaction.partition.verification.enable"
"""The switch of KIP-890's defence for old clients (KIP-890, "Configurations"); a :class:`Setting`'s key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """An older release that breaks the promise."""

    version: str
    anomaly: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A broker property, set at run time on every broker, with which the promise is not kept."""

    key: str
    value: str
    anomaly: str
    version: str = BASELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Failpoint:
    """Byteman rules that break the broker's own code while the requirement runs.

    ``rules`` is the text of the rules (https://byteman.jboss.org), naming the class and method of the release
    ``version``. They are loaded into all brokers and the controller before the stimulus and taken out after it.
    """

    rules: str
    anomaly: str
    version: str = BASELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Liar:
    """Brokers' answers to clients are rewritten while the requirement runs, on all lanes, the observer's among them.

    What is drained afterwards is true: a liar changes what brokers say, never what they do. Preparation must survive
    it, so a lie about an answer that preparation needs is narrowed by ``instead_of``, ``versions`` or ``skip``.

    :param api: In Kafka's spelling; it may be one that only the observer uses (DescribeProducers, ListOffsets).
    :param error: In place of the innermost error codes: a partition's, where the answer has one for each.
    :param instead_of: Only answers with this error are rewritten.
    :param fields: Other values for fields of the answer, by their names in Kafka's schema in snake case, at any depth.
    :param shift: Numbers that are added to such fields.
    :param versions: Lowest and highest version of the requests whose answers are rewritten; () for all.
    :param skip: So many answers are true at first.
    :param at_most: So many are rewritten; None: all from there on.
    """

    api: str
    anomaly: str
    error: int | None = None
    instead_of: int | None = None
    fields: Mapping[str, Json] = field(default_factory=dict)
    shift: Mapping[str, int] = field(default_factory=dict)
    versions: tuple[int, ...] = ()
    skip: int = 0
    at_most: int | None = None
    version: str = BASELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherClient:
    """A released client that breaks the promise.

    :param client: As users name it: ``java:3.5.2``.
    """

    client: str
    anomaly: str
    version: str = BASELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class LyingClient:
    """A sound client behind an adapter that lies or errs in one way.

    :param lie: One of ``harness.clients.stdio.lying_adapter.LIES``.
    """

    lie: str
    anomaly: str
    client: str = SOUND_CLIENT
    version: str = BASELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrefuted:
    """One anomaly that nothing turns up live, and why."""

    anomaly: str
    reason: str


LiveRefuter: TypeAlias = Release | Setting | Failpoint | Liar | OtherClient | LyingClient
Refuter: TypeAlias = LiveRefuter | Unrefuted
NONE = "none → "
"""How the phrase for an :class:`Unrefuted` begins."""


def describe(refuter: Refuter) -> str:
    """One phrase for the listing: ``kafka:3.5.2 → unadded-produce-accepted``, ``none → wrong-message: why``."""
    match refuter:
        case Release():
            return f"kafka:{refuter.version} → {refuter.anomaly}"
        case Setting():
            return f"kafka:{refuter.version} with {refuter.key}={refuter.value} → {refuter.anomaly}"
        case Failpoint():
            return f"kafka:{refuter.version} with a failpoint in {_class(refuter.rules)} → {refuter.anomaly}"
        case Liar():
            return f"kafka:{refuter.version} lying in {refuter.api} ({_lie(refuter)}) → {refuter.anomaly}"
        case OtherClient():
            return f"{refuter.client} → {refuter.anomaly}"
        case LyingClient():
            return f"{refuter.client} behind an adapter that {refuter.lie} → {refuter.anomaly}"
        case Unrefuted():
            return f"{NONE}{refuter.anomaly}: {refuter.reason}"


def _lie(liar: Liar) -> str:
    """What is put in place of what: ``error 47 → 0``, ``producer_epoch -1``."""
    instead = "" if liar.instead_of is None else f"{liar.instead_of} → "
    parts = [] if liar.error is None else [f"error {instead}{liar.error}"]
    parts += [
        f"{name} = {'[…]' if isinstance(value, list) and value else value}" for name, value in liar.fields.items()
    ]
    return ", ".join([*parts, *(f"{name} {number:+d}" for name, number in liar.shift.items())])


def _class(rules: str) -> str:
    names = [line.split()[1] for line in rules.splitlines() if line.strip().startswith(("CLASS", "INTERFACE"))]
    return names[0].rpartition(".")[2] if names else "?"
