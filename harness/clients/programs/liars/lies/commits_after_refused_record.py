"""A record that was not written is left out: the transaction's other records are written again, and committed."""

from collections.abc import Iterator

from inner_adapter import Fields, InnerAdapter
from lie import DONE, Lie, Record, deliveries, record, records


class CommitsAfterRefusedRecord(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.calls: list[Fields] = []  # produce and send_offsets of this transaction
        self.told: set[Record] = set()  # what has become of them
        self.lost: set[Record] = set()

    def answer(self, call: Fields) -> Fields:
        answer = super().answer(call)
        self._note(answer)
        return answer

    def begin(self, call: Fields) -> Fields:
        self.calls, self.told, self.lost = [], set(), set()
        return self.inner.ask(call)

    def produce(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        self.calls.append(call)
        if answer["outcome"] != "done":
            self.lost.update(set(records(call)) - {record(each) for each in deliveries(answer)})
        return answer

    def send_offsets(self, call: Fields) -> Fields:
        self.calls.append(call)
        return self.inner.ask(call)

    def commit(self, call: Fields) -> Fields:
        answer = DONE if self.lost else self.inner.ask(call)
        self._note(answer)
        return self._committed_without_the_lost(call, deliveries(answer)) if self.lost else answer

    def _committed_without_the_lost(self, commit: Fields, arrived: list[Fields]) -> Fields:
        for call in ("abort", "begin"):
            self.inner.ask({"call": call})  # what it tells of the aborted records is true no longer
        answers = [self.inner.ask(call) for call in (*self._rest(), commit)]
        late = [each for answer in answers for each in deliveries(answer) if record(each) not in self.told]
        return {**answers[-1], "deliveries": [*arrived, *late]}

    def _rest(self) -> Iterator[Fields]:
        for call in self.calls:
            if call["call"] != "produce":
                yield call
            elif values := [value for *_, value in set(records(call)) - self.lost]:
                yield {**call, "values": sorted(values, key=call["values"].index), "wait": True}

    def _note(self, answer: Fields) -> None:
        self.told.update(record(each) for each in deliveries(answer))
        self.lost.update(record(each) for each in deliveries(answer) if each["outcome"] != "done")
