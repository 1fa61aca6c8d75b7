"""What can go wrong on the wire; the text of each is one sentence."""


class WireError(Exception):
    """Something went wrong on the way to one broker or back."""


class NotOffered(WireError):
    """The broker does not offer the API at that version, so nothing was sent.

    A broker that is sent a version which it does not offer closes the connection without an answer.
    """


class CannotBuild(WireError):
    """The request cannot be built at that version: there is no schema for it, or it lacks a field that matters."""


class NoAnswer(WireError):
    """The bound passed without an answer. The request is still on its way: it may be waited for again."""


class ConnectionClosed(WireError):
    """The connection could not be opened, or it ended before the answer came."""


class UnreadableAnswer(WireError):
    """The broker answered with bytes that are not an answer of that API and version."""


class UnreadableRecords(WireError):
    """Bytes that are not a log of record batches: wrong magic, checksum or length, or an unsupported compression."""


class SecurityRefused(ConnectionClosed):
    """TLS or SASL failed; the text is one sentence that names the property to look at, and nothing secret."""
