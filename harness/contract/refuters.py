"""What makes a requirement turn VIOLATED live: an older release, a setting, or a failpoint in a sound release."""

from dataclasses import dataclass
from typing import TypeAlias

BASELINE = "4.3.1"
"""The sound release in which settings and failpoints are tried, unless a refuter names another."""

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
class Unrefuted:
    """No live refuter exists, and why."""

    reason: str


LiveRefuter: TypeAlias = Release | Setting | Failpoint
Refuter: TypeAlias = LiveRefuter | Unrefuted


def describe(refuter: Refuter) -> str:
    """One phrase for the listing: ``kafka:3.5.2 → unadded-produce-accepted``."""
    match refuter:
        case Release():
            return f"kafka:{refuter.version} → {refuter.anomaly}"
        case Setting():
            return f"kafka:{refuter.version} with {refuter.key}={refuter.value} → {refuter.anomaly}"
        case Failpoint():
            return f"kafka:{refuter.version} with a failpoint in {_class(refuter.rules)} → {refuter.anomaly}"
        case Unrefuted():
            return f"none: {refuter.reason}"


def _class(rules: str) -> str:
    names = [line.split()[1] for line in rules.splitlines() if line.strip().startswith(("CLASS", "INTERFACE"))]
    return names[0].rpartition(".")[2] if names else "?"
