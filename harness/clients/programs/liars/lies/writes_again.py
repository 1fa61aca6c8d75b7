"""What was produced is handed to the library once more: the same records twice, each with a sequence of its own."""

from collections import Counter

from inner_adapter import Fields, InnerAdapter
from lie import Lie, Record, deliveries, record, records


class WritesAgain(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.asked: Counter[Record] = Counter()
        self.told: Counter[Record] = Counter()

    def answer(self, call: Fields) -> Fields:
        answer = super().answer(call)
        return {**answer, "deliveries": [each for each in deliveries(answer) if self._is_told(record(each))]}

    def produce(self, call: Fields) -> Fields:
        self.asked.update(records(call))
        answer = self.inner.ask(call)
        again = self.inner.ask(call) if answer["outcome"] == "done" else {}
        return {**answer, "deliveries": [*deliveries(answer), *deliveries(again)]}

    def _is_told(self, delivered: Record) -> bool:
        self.told[delivered] += 1
        return self.told[delivered] <= self.asked[delivered]
