"""What was judged and how, from ``run.json``: what an old or interrupted run lacks is empty."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.json_value import Json
from harness.contract.level import Profile
from harness.report.shared.words import JAVA_CLIENT, KAFKA


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetadata:
    """The judged target and the run.

    ``name`` is what the headline calls the target (``Kafka 4.3.1``); ``apis`` holds the offered version range of each
    API, lowest and highest; ``seconds`` is how long the run took; ``command`` runs it again; ``against`` is what was
    kept of an earlier run. ``client`` is the judged client, where clients are judged: then the target only serves it;
    ``library`` is what it calls itself, with its version.
    """

    name: str
    target: str
    identity: str
    backend: str
    backend_why: str
    versions: Mapping[str, Json]
    supported: Mapping[str, Json]
    finalized: Mapping[str, Json]
    apis: Mapping[str, tuple[int, int]]
    seed: Json
    command: str
    started: str
    seconds: float | None
    selection: str
    fencepost: str
    profile: Profile = Profile.KAFKA
    against: Mapping[str, Json] = field(default_factory=dict)
    client: str = ""
    library: str = ""

    @property
    def than(self) -> str:
        """Whose ways what is judged may differ from, and keep its promises."""
        return JAVA_CLIENT if self.client else KAFKA


def run_metadata(run: Mapping[str, Json]) -> RunMetadata:
    """Of the parsed ``run.json``."""
    target, identity = field_text(run.get("target")), field_text(run.get("identity"))
    features = _mapping(run.get("features"))
    return RunMetadata(
        name=field_text(run.get("client")) or name_of(target, identity),
        target=target,
        identity=identity,
        backend=field_text(run.get("backend")),
        backend_why=field_text(run.get("backend_why")),
        versions=_mapping(run.get("versions")),
        supported=_mapping(features.get("supported")),
        finalized=_mapping(features.get("finalized")),
        apis=_ranges(run.get("apis")),
        seed=run.get("seed"),
        command=field_text(run.get("again") or run.get("command")),  # older folders of chaos have ``again``
        started=field_text(run.get("started")),
        seconds=_number(run.get("seconds")),
        selection=field_text(run.get("selection")),
        fencepost=field_text(run.get("fencepost") or run.get("fencepost_version")),
        profile=Profile(field_text(run.get("profile")) or Profile.KAFKA),
        against=_mapping(run.get("against")),
        client=field_text(run.get("client")),
        library=" ".join(field_text(run.get(name)) for name in ("library", "library_version")).strip(),
    )


def name_of(target: str, identity: str) -> str:
    """What the headline calls the target.

    >>> name_of("kafka:4.3.1", ""), name_of("dist:/tmp/rc.tgz", "Kafka 4.4.0-rc1 from /tmp/rc.tgz, three brokers")
    ('Kafka 4.3.1', 'Kafka 4.4.0-rc1')
    """
    if target.startswith("kafka:"):
        return "Kafka " + target.removeprefix("kafka:")
    if found := re.match(r"Kafka \d[^\s,]*", identity):
        return found.group()
    return identity.split(",")[0] or target or "The target"


def span(versions: tuple[int, int]) -> str:
    """``v0–v12``; one version alone is ``v3``."""
    low, high = versions
    return f"v{low}" if low == high else f"v{low}–v{high}"


def field_text(value: Json) -> str:
    """A field of ``run.json`` as text; a list's items are set apart by commas, null is empty."""
    if isinstance(value, list):
        return ", ".join(field_text(item) for item in value)
    return "" if value is None else str(value)


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _ranges(value: Json) -> Mapping[str, tuple[int, int]]:
    found = ((name, _range(item)) for name, item in sorted(_mapping(value).items()))
    return {name: item for name, item in found if item is not None}


def _range(value: Json) -> tuple[int, int] | None:
    match value:
        case [int(low), int(high)]:
            return low, high
        case _:
            return None
