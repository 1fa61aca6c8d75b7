"""A requirement: a statement of a KIP as a value next to its stimulus, its check and its proof that it can fail.

One file under ``suites/contract`` binds one of these to the name ``REQUIREMENT``, or several of one form to
``REQUIREMENTS``; from each come the live item, the offline controls, the live negative controls, the row of the report
and the row of ``fencepost list``.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Generic, TypeAlias, TypeVar

from harness.contract.expect import Observation
from harness.contract.level import Level
from harness.contract.own_cluster import OwnCluster
from harness.contract.refuters import Refuter
from harness.evidence.client_evidence import AbilityName
from harness.evidence.requirement_evidence import Evidence

LabT = TypeVar("LabT", contravariant=True)
Check: TypeAlias = Callable[[Evidence], Iterable[Observation]]


class Access(StrEnum):
    """What a requirement needs of a cluster beyond topics and ids of its own; a running cluster may not give it."""

    LANES = "lanes"  # proxies between clients and brokers, to hold or cut what a client sends
    LINKS = "links"  # proxies between brokers
    BROKERS = "brokers"  # a second broker
    CHANGES = "changes"  # a setting, a feature level, a leader or a marker; only with --allow-changes
    NODES = "nodes"  # power over the brokers' processes: to pause, stop or kill one, and start it again
    LOAD = "load"  # tens of thousands of small requests; only with --allow-load
    METRICS = "metrics"  # what brokers count, by JMX
    TOOL = "tool"  # the target's own command line tools


class Order(Enum):
    """When a requirement runs in a session: those that disturb others go last."""

    CALM = 0  # touches nothing but its own topics and transactional ids
    ALONE = 1  # looks at what others change as well: groups' offsets, counters, how waiting verifications are answered
    HOLDS_LINKS = 2  # holds or cuts links between brokers
    CHANGES_SETTINGS = 3  # changes broker settings or feature levels, and sets them back
    HURTS_CLUSTER = 4  # kills, pauses or exhausts
    LAST = 5  # a broker that breaks the promise serves nobody rightly afterwards


@dataclass(frozen=True, slots=True)
class Source:
    """Where the promise stands: the KIP's number and the section's words."""

    kip: int
    section: str

    def link(self) -> str:
        """The KIP's page on the Apache wiki."""
        return f"https://cwiki.apache.org/confluence/display/KAFKA/KIP-{self.kip}"


@dataclass(frozen=True, slots=True)
class Offers:
    """The target must advertise this version of the API (name in Kafka's spelling, ``EndTxn``)."""

    api: str
    version: int


@dataclass(frozen=True, slots=True)
class Feature:
    """The target must support this feature up to at least this level."""

    name: str
    level: int


@dataclass(frozen=True, slots=True)
class Library:
    """The promise is one of these client libraries, by the names that they give themselves.

    :param since: Their first version of which it speaks; "" for all.
    :param before: The first version of which it does not speak any more; "" for none.
    :param also: Others of which it speaks as well, from another version on.
    """

    names: tuple[str, ...]
    since: str = ""
    before: str = ""
    also: tuple["Library", ...] = ()

    def holds(self, name: str, version: str) -> bool:
        """Whether the promise is this library's, at this version (``4.3.1``)."""
        at = numbers_of(version)
        early, late = self.since and at < numbers_of(self.since), self.before and at >= numbers_of(self.before)
        return (name in self.names and not early and not late) or any(one.holds(name, version) for one in self.also)

    def __str__(self) -> str:
        limits = [f"from {self.since}"] * bool(self.since) + [f"before {self.before}"] * bool(self.before)
        return " or ".join([" ".join([" or ".join(self.names), *limits]), *map(str, self.also)])


@dataclass(frozen=True, slots=True)
class Ability:
    """The promise is that of libraries which do not say that they lack this (``open`` of an adapter)."""

    name: AbilityName


def numbers_of(version: str) -> tuple[int, ...]:
    """The numbers of a version, to be compared: of ``v1.22.2-rc1`` they are 1, 22 and 2."""
    return tuple(map(int, re.findall(r"\d+", version.split("-")[0])))


Need: TypeAlias = Offers | Feature | Library | Ability


@dataclass(frozen=True, slots=True)
class Refusal:
    """Doctored evidence that the check must refuse with exactly this anomaly."""

    anomaly: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement(Generic[LabT]):
    """A promise that can be tried.

    :param id: The catalogue's id, ``KIP890-VERIFY-01``.
    :param needs: What the target must advertise for the promise to apply; else NOT_OFFERED.
    :param stimulus: Drives the lab; every exchange is recorded. May raise ``harness.lab.Unprepared``.
    :param check: Pure function of the evidence; yields witnesses and findings.
    :param accepts: Evidence (shape and values as a sound broker gives) on which the verdict is HOLDS.
    :param refuses: Doctored evidence, each with the anomaly it must give, and no other.
    :param refuted_by: What turns the verdict VIOLATED live; beside it, why nothing turns up some anomaly.
    :param level: MUST where a KIP promises it; a finding may be of a lower level (:func:`expect.habit`).
    :param access: All that the stimulus uses beyond its own topics and ids; a live run compares.
    :param cluster: The cluster that it needs in place of the run's common one; None where that one will do.
    """

    id: str
    source: Source
    statement: str
    needs: tuple[Need, ...]
    stimulus: Callable[[LabT], None]
    check: Check
    accepts: tuple[Evidence, ...]
    refuses: tuple[Refusal, ...]
    refuted_by: tuple[Refuter, ...]
    level: Level = Level.MUST
    order: Order = Order.CALM
    access: tuple[Access, ...] = ()
    cluster: OwnCluster | None = None

    def __post_init__(self) -> None:
        """Refuse a requirement that is not proven able to fail."""
        for name in ("statement", "needs", "accepts", "refuses", "refuted_by"):
            if not getattr(self, name):
                raise ValueError(f"{self.id}: {name} is empty; see 'Add a requirement' in README.md")

    @property
    def beside_others(self) -> bool:
        """Whether others may be tried on the same cluster at the same time: neither meets what the other does."""
        return self.order is Order.CALM and set(self.access) <= {Access.BROKERS}

    @property
    def kip(self) -> str:
        """``KIP-890`` of ``KIP890-VERIFY-01``: the chapter that it stands in, also where another KIP is its source."""
        return self.id.split("-")[0].replace("KIP", "KIP-")

    @property
    def group(self) -> str:
        """``VERIFY`` of ``KIP890-VERIFY-01``."""
        return self.id.split("-")[1]
