"""What an anomaly of a chaos history is: one file under ``suites/anomalies``, with all that is known of it.

The judge and the reports need its name, place and words. The selfcheck needs its stories and plants: functions over
the small languages of its fixtures, which the file imports for type checkers only, so that the product loads none of
the selfcheck.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """One way to change a sound model history so that it has the anomaly.

    :param change: Changes the history of a ``HistoryEditor`` (``suites/selfcheck/fixtures/histories``) at a position
        that its ``rng`` chooses; False when there is no such position.
    :param brings: Other anomalies that come with it.
    :param because: Why they must.
    """

    change: Callable[..., bool]
    brings: frozenset[str] = frozenset()
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """An anomaly; a file binds it as ``ANOMALY``.

    :param name: Kebab-case, unique.
    :param order: One cause has one name, that of the anomaly which fits and has the lowest order; unique.
    :param definition: When it is named, in the words of :mod:`harness.evidence.history.anomalies`.
    :param phrase: What a target does that has it; the target is the sentence's subject.
    :param stories: Functions that write a tiny history into a ``Story`` (``suites/selfcheck/fixtures/stories``) and
        return the anomalies that must be named: this one, or none where something legal only looks like it.
    :param plants: At least one way in which it comes about.
    """

    name: str
    order: int
    definition: str
    phrase: str
    stories: tuple[Callable[..., Sequence[str]], ...]
    plants: tuple[Plant, ...]
