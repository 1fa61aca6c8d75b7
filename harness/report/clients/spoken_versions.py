"""What a client speaks: the versions of each API that it was seen to use, over all of its evidence."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Evidence

Versions: TypeAlias = tuple[int, int]
END_TXN, SECOND_PROTOCOL = "EndTxn", 5
"""From this version on EndTxn's answer has the next epoch: transaction.version 2 (KIP-890, "Public Interfaces")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaks:
    """The lowest and highest version of each API, and the newest transaction protocol; None where none was seen."""

    apis: Mapping[str, Versions] = field(default_factory=dict)
    protocol: int | None = None


def speaks(evidence: Iterable[Evidence]) -> Speaks:
    """From the requests that were seen, and the facts ``spoken`` and ``protocol`` where a requirement noted them."""
    found: dict[str, set[int]] = {}
    protocols: list[int] = []
    for seen in evidence:
        for api, version in (*_seen(seen), *_noted(seen.facts.get("spoken"))):
            found.setdefault(api, set()).add(version)
        noted = seen.facts.get("protocol")
        protocols += [noted] if isinstance(noted, int) and not isinstance(noted, bool) else []
    protocols += [2 if version >= SECOND_PROTOCOL else 1 for version in found.get(END_TXN, ())]
    apis = {api: (min(versions), max(versions)) for api, versions in sorted(found.items())}
    return Speaks(apis=apis, protocol=max(protocols, default=None))


def _seen(evidence: Evidence) -> Iterator[tuple[str, int]]:
    yield from ((frame.api, frame.version) for frame in evidence.frames)


def _noted(spoken: Json) -> Iterator[tuple[str, int]]:
    """A version or several by API; what has another form is left out."""
    for api, versions in spoken.items() if isinstance(spoken, dict) else ():
        several = versions if isinstance(versions, list) else [versions]
        yield from ((api, version) for version in several if isinstance(version, int))
