"""How binding a promise is, and which promises a profile asks for."""

from enum import StrEnum


class Level(StrEnum):
    """Who promises it: a KIP (MUST), or only Kafka's implementation (SHOULD; MAY where it is a matter of taste).

    A requirement has a level, and so has each finding: that a late record is refused is the KIP's promise; with which
    code, where the KIP names none, is Kafka's habit.
    """

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Profile(StrEnum):
    """Which levels decide the exit code."""

    KIP = "kip"  # what a KIP promises of every broker
    KAFKA = "kafka"  # that, and how Apache Kafka itself does it

    def asks_for(self, level: Level | str) -> bool:
        """Whether a promise of this level decides the exit code."""
        return self is Profile.KAFKA or level == Level.MUST


def strongest(levels: set[Level]) -> Level:
    """The most binding of these levels.

    >>> strongest({Level.MAY, Level.SHOULD}).value
    'SHOULD'
    """
    return next(level for level in Level if level in levels)


def weaker(one: Level, other: Level) -> Level:
    """The less binding of the two."""
    return max(one, other, key=list(Level).index)
