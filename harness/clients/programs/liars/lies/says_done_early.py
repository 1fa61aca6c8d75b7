"""A commit is a success before the library is asked, which happens at the next call only; where none comes, never."""

from inner_adapter import Fields, InnerAdapter
from lie import DONE, Lie, deliveries


class SaysDoneEarly(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.put_off: list[Fields] = []

    def answer(self, call: Fields) -> Fields:
        late = [each for commit in self.put_off for each in deliveries(self.inner.ask(commit))]
        self.put_off = []
        answer = super().answer(call)
        return {**answer, "deliveries": [*late, *deliveries(answer)]}

    def commit(self, call: Fields) -> Fields:
        self.put_off.append(call)
        return DONE
