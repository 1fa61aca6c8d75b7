"""The facts of a run: what was noted while it settled, beside what was asked for (``facts`` of ``run.json``).

Of any shape, since ``run.json`` may come from another tool: what is not of the shape that is asked for is not there.
"""

from collections.abc import Mapping

from harness.base.json_value import Json


def facts_of(run: Mapping[str, Json]) -> Mapping[str, Json]:
    """All of them by name; none where the run did not come so far.

    :param run: ``run.json``.
    """
    facts = run.get("facts")
    return facts if isinstance(facts, dict) else {}


def table_of(run: Mapping[str, Json], fact: str) -> Mapping[str, Json]:
    """A fact that has parts with names."""
    table = facts_of(run).get(fact)
    return table if isinstance(table, dict) else {}


def texts_of(run: Mapping[str, Json], fact: str) -> tuple[str, ...]:
    """A fact that is a list, each of it as text."""
    found = facts_of(run).get(fact)
    return tuple(map(str, found)) if isinstance(found, list) else ()
