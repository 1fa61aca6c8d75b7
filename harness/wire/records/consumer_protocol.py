"""What members of a consumer group exchange through the coordinator: subscriptions and assignments.

Kafka's ``ConsumerProtocolSubscription`` and ``ConsumerProtocolAssignment``, version 0, which every client writes or can
read; a later version only adds fields at the end, which are not read here. Assigned as Kafka's ``RangeAssignor`` does.
"""

import struct
from collections.abc import Mapping, Sequence

from harness.wire.topic_partitions import by_topic
from harness.wire.wire_errors import UnreadableAnswer

RANGE = "range"
"""The assignor's name on the wire."""

_NO_USER_DATA = struct.pack(">i", -1)


def subscription(topics: Sequence[str]) -> bytes:
    """A member's subscription.

    >>> subscribed_topics(subscription(["b", "a"]))
    ('b', 'a')
    """
    return struct.pack(">hi", 0, len(topics)) + b"".join(map(_text, topics)) + _NO_USER_DATA


def subscribed_topics(encoded: bytes) -> tuple[str, ...]:
    """The topics of a subscription of any version; :raises UnreadableAnswer: when the bytes are none."""
    return tuple(_Cursor(encoded).topics())


def assignment(partitions: Sequence[tuple[str, int]]) -> bytes:
    """A member's assignment.

    >>> assigned_partitions(assignment([("a", 1), ("b", 0), ("a", 0)]))
    (('a', 1), ('a', 0), ('b', 0))
    """
    topics = by_topic(partitions)
    parts = (
        _text(topic) + struct.pack(f">i{len(indexes)}i", len(indexes), *indexes) for topic, indexes in topics.items()
    )
    return struct.pack(">hi", 0, len(topics)) + b"".join(parts) + _NO_USER_DATA


def assigned_partitions(encoded: bytes) -> tuple[tuple[str, int], ...]:
    """The partitions of an assignment; no bytes are no partitions.

    :raises UnreadableAnswer: When the bytes are no assignment.
    """
    return tuple(_Cursor(encoded).partitions()) if encoded else ()


def assign_ranges(
    subscribed: Mapping[str, Sequence[str]], partitions: Mapping[str, int]
) -> Mapping[str, list[tuple[str, int]]]:
    """Partitions by member: each topic is cut into one range a subscribed member, the first ones longer by one.

    :param subscribed: Topics by member.
    :param partitions: Number of partitions by topic.

    >>> assign_ranges({"m": ["t"], "n": ["t"]}, {"t": 3})
    {'m': [('t', 0), ('t', 1)], 'n': [('t', 2)]}
    """
    given: dict[str, list[tuple[str, int]]] = {member: [] for member in subscribed}
    for topic, count in sorted(partitions.items()):
        members = sorted(member for member, topics in subscribed.items() if topic in topics)
        for index in range(count if members else 0):
            given[_owner(members, index, count)].append((topic, index))
    return given


def _owner(members: Sequence[str], index: int, count: int) -> str:
    share, longer = divmod(count, len(members))
    in_longer = longer * (share + 1)
    return members[index // (share + 1) if index < in_longer else longer + (index - in_longer) // share]


def _text(text: str) -> bytes:
    octets = text.encode()
    return struct.pack(">h", len(octets)) + octets


class _Cursor:
    """Reads forwards; :raises UnreadableAnswer: where the bytes end too early."""

    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._at = 2  # after the version

    def topics(self) -> list[str]:
        return [self._string() for _ in range(self._number())]

    def partitions(self) -> list[tuple[str, int]]:
        found = []
        for _ in range(self._number()):
            topic = self._string()
            found += [(topic, self._number()) for _ in range(self._number())]
        return found

    def _number(self) -> int:
        return int.from_bytes(self._take(4), signed=True)

    def _string(self) -> str:
        return self._take(max(0, int.from_bytes(self._take(2), signed=True))).decode("utf-8", "backslashreplace")

    def _take(self, size: int) -> bytes:
        taken = self._encoded[self._at : self._at + size]
        if len(taken) < size:
            raise UnreadableAnswer("a consumer protocol message ends too early")
        self._at += size
        return taken
