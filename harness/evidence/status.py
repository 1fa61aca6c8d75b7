"""What a judge may conclude, of a requirement as of a check of a chaos history."""

from collections.abc import Collection
from enum import StrEnum


class Status(StrEnum):
    """Green is HOLDS alone: tried, and held."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    UNDECIDED = "UNDECIDED"  # the evidence is ambiguous, or the check itself crashed
    NOT_EXERCISED = "NOT_EXERCISED"  # the situation never came about
    OUT_OF_REACH = "OUT_OF_REACH"  # on a cluster that is not ours: nobody may, or can from here, bring it about
    NOT_OFFERED = "NOT_OFFERED"  # the target does not advertise the API version or feature; of requirements only


def worst(statuses: Collection[Status]) -> Status:
    """VIOLATED over UNDECIDED over HOLDS; NOT_EXERCISED only when there is nothing else.

    >>> worst([Status.HOLDS, Status.NOT_EXERCISED]).value, worst([]).value
    ('HOLDS', 'NOT_EXERCISED')
    """
    ranked = (Status.VIOLATED, Status.UNDECIDED, Status.HOLDS)
    return next((status for status in ranked if status in statuses), Status.NOT_EXERCISED)
