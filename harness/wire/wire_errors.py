"""What can go wrong on the wire: each is one sentence for a person."""


class WireError(Exception):
    """Something went wrong between us and one broker; ``str`` is one sentence."""


class NotOffered(WireError):
    """The broker does not offer the API at that version, so nothing was sent.

    A broker that is sent a version which it does not offer closes the connection without a word; this says it first.
    """


class CannotSay(WireError):
    """That version's schema has no room for what is asked, and leaving it out would change the question."""


class NoAnswer(WireError):
    """The bound passed without an answer. The request is still on its way: it may be waited for again."""


class ConnectionClosed(WireError):
    """The connection could not be opened, or it ended before the answer came."""


class UnreadableAnswer(WireError):
    """The broker answered with bytes that are not an answer of that API and version."""


class UnreadableRecords(WireError):
    """Bytes that are not a log of record batches: wrong magic, checksum or length, or a compression we do not read."""
