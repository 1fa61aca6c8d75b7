"""What was noted while a round settled, in words: ``run.json``'s facts are nested and may be of any shape."""

from collections.abc import Iterator, Mapping, Sequence

from harness.base.json_value import Json
from harness.evidence.run_facts import facts_of, table_of
from harness.report.chaos.anomaly_words import number, text
from harness.report.shared.words import duration, value

HIDDEN = ("clients", "played by", "client notes")
"""Facts that another part of the page shows."""


def facts(run: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    """Names and values, in the order in which they were noted; what is empty is left out."""
    return tuple(_flattened("", dict(facts_of(run))))


def clients_of_roles(run: Mapping[str, Json]) -> Mapping[str, str]:
    """The client of each role, which its successors have too; nothing in rounds that did not note it."""
    return {role: str(client) for role, client in table_of(run, "played_by").items()}


def _flattened(name: str, fact: Json) -> Iterator[tuple[str, str]]:
    if fact is None or fact == [] or fact == {} or name in HIDDEN:
        return
    if isinstance(fact, dict):
        for key, inner in fact.items():
            yield from _flattened(f"{name} {key}".strip().replace("_", " "), inner)
    elif isinstance(fact, list):
        yield name, _listed(fact)
    elif name.endswith(" ms") and isinstance(fact, int | float):
        yield name.removesuffix(" ms"), duration(fact)
    else:
        yield name, value(fact)


def _listed(items: Sequence[Json]) -> str:
    """Plain items side by side; of objects, how many there are and the fields of the first ones."""
    if not all(isinstance(item, dict) for item in items):
        return text("; ".join(value(item) for item in items), 400)
    probes = [item for item in items if isinstance(item, dict) and "committed" in item]
    if len(probes) == len(items):
        served = sum(bool(probe["committed"]) for probe in probes)
        return (
            f"{served} of {len(items)} committed, the slowest in {duration(max(number(p.get('ms')) for p in probes))}"
        )
    listed = "; ".join(_object(item) for item in items if isinstance(item, dict))
    return text(f"{len(items)}: {listed}", 400)


def _object(item: Mapping[str, Json]) -> str:
    words = [f"{name.replace('_', ' ')} {value(inner)}" for name, inner in item.items() if inner not in (None, True)]
    words += [name.replace("_", " ") for name, inner in item.items() if inner is True]
    return ", ".join(words)
