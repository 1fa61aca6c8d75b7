"""What a client said, in its own words: outcome, error with what it wraps, results of records, records, positions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base.kafka_error import error_name
from harness.evidence.client_evidence import ClientCall, Delivery, LibraryError
from harness.report.shared.words import count, short

ITEMS_SHOWN = 8
"""Results, records or positions of one call that the page shows; the evidence has them all."""
MESSAGE_SHOWN = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """An error as its library tells it; ``code`` is Kafka's name of it, with its number."""

    type: str
    code: str
    classification: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWords:
    """The answer to a call; ``errors`` are the error and what it wraps, outermost first."""

    outcome: str
    given: str
    errors: tuple[ErrorWords, ...]
    results: tuple[str, ...]


def call_words(call: ClientCall) -> CallWords:
    """The call's answer for a person."""
    return CallWords(
        outcome=call.outcome,
        given=short(", ".join(map(repr, call.values)), 200),
        errors=tuple(_chain(call.error)) if call.error else (),
        results=tuple(_results(call)),
    )


def error_words(error: LibraryError) -> ErrorWords:
    """One error, without what it wraps."""
    return ErrorWords(
        type=short(error.type, 120),
        code="" if error.code is None else f"{error_name(error.code)} ({error.code})",
        classification=error.classification or "",
        message=short(error.message, MESSAGE_SHOWN),
    )


def _chain(error: LibraryError) -> Iterator[ErrorWords]:
    yield error_words(error)
    for cause in error.causes:
        yield from _chain(cause)


def _results(call: ClientCall) -> Iterator[str]:
    yield from _cut([_delivery(each, call.error) for each in call.deliveries], "results")
    yield from _cut([f"read {each.topic} @ {each.offset}: {short(each.value, 60)}" for each in call.records], "records")
    yield from _cut([f"reads on {each.topic} at {each.offset}" for each in call.positions], "positions")


def _delivery(delivery: Delivery, told: LibraryError | None) -> str:
    place = delivery.topic if delivery.offset is None else f"{delivery.topic} @ {delivery.offset}"
    words = f"record {short(delivery.value, 60)!r} to {place}: {delivery.outcome}"
    if delivery.error is None or delivery.error == told:
        return words
    error = error_words(delivery.error)
    return " ".join(filter(None, (f"{words},", error.type, error.code, error.classification, error.message)))


def _cut(lines: Sequence[str], what: str) -> Iterator[str]:
    yield from lines[:ITEMS_SHOWN]
    if len(lines) > ITEMS_SHOWN:
        yield f"and {count(len(lines) - ITEMS_SHOWN, 'more', 'more')} {what}"
