"""The operations that a finding names as a sketch of a requirement's stimulus, in the lab's words.

Only of wire clients, whose operations are single requests (:mod:`harness.model.sketch` has the form).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.base.json_value import Json
from harness.model.model_requests import (
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelRequest,
    ProduceAsked,
)
from harness.model.sketch import sketch

PRODUCE, END = {"v1": 9, "v2": 12}, {"v1": 3, "v2": 5}
"""Request versions of both protocols."""
LETTERS = "ABCDEFGH"

Row = Mapping[str, Json]


def lab_sketch(operations: Sequence[Row]) -> str:
    """Lines that somebody can begin a requirement with; empty where there is no request that the lab has words for.

    :param operations: Rows of the history's operations, in their order.
    """
    writer = _SketchWriter()
    lines = [line for row in operations for line in writer.lines(row)]
    places = [f'{letter} = lab.partition("{letter}")  # {place}' for place, letter in writer.partitions.items()]
    return "\n".join([*places, *lines]) if lines else ""


@dataclass(slots=True)
class _SketchWriter:
    """What the lines so far have named.

    :param partitions: A letter for each partition; :param names: a name for each actor; :param added: by transaction.
    """

    partitions: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    added: set[tuple[Json, str]] = field(default_factory=set)
    sequences: dict[tuple[Json, Json, str], int] = field(default_factory=dict)

    def lines(self, row: Row) -> Iterator[str]:
        """The requests of an operation, with what became of it."""
        actor = str(row.get("actor"))
        if actor not in self.names:
            self.names[actor] = f"txn{len(self.names) + 1}"
            yield f'{self.names[actor]} = lab.producer("{self.names[actor]}")  # {actor}, {row.get("client")}'
        requests = list(self._requests(row, self.names[actor]))
        yield from map(sketch, ([asked] for asked in requests[:-1]))
        yield from (f"{sketch([asked])}  # {_outcome(row)}" for asked in requests[-1:])

    def _requests(self, row: Row, name: str) -> Iterator[ModelRequest]:
        protocol = str(row.get("protocol") or "v1")
        producer_id, epoch = _number(row.get("producer_id")), _number(row.get("epoch"))
        match row.get("verb"):
            case "init":
                yield InitProducerIdAsked(id=name, version=4, producer_id=producer_id, epoch=epoch)
            case "produce":
                place = f"{row.get('topic')}-{row.get('partition')}"
                letter = self.partitions.setdefault(place, LETTERS[len(self.partitions) % len(LETTERS)])
                if protocol == "v1" and (row.get("txn"), letter) not in self.added:
                    self.added.add((row.get("txn"), letter))
                    yield AddPartitionsAsked(
                        id=name, version=3, producer_id=producer_id, epoch=epoch, partitions=frozenset({letter})
                    )
                yield ProduceAsked(
                    id=name,
                    version=PRODUCE[protocol],
                    partition=letter,
                    producer_id=producer_id,
                    epoch=epoch,
                    sequence=self._sequence(producer_id, epoch, letter),
                )
            case "commit" | "abort" as verb:
                yield EndTxnAsked(
                    id=name,
                    version=END[protocol],
                    producer_id=producer_id,
                    epoch=epoch,
                    commit=verb == "commit",
                )

    def _sequence(self, producer_id: int, epoch: int, letter: str) -> int:
        key = (producer_id, epoch, letter)
        self.sequences[key] = self.sequences.get(key, -1) + 1
        return self.sequences[key]


def _number(value: Json) -> int:
    return value if isinstance(value, int) else -1


def _outcome(row: Row) -> str:
    reason = row.get("reason")
    return f"{row.get('outcome')}{f': {reason}' if reason and row.get('outcome') != 'done' else ''}"
