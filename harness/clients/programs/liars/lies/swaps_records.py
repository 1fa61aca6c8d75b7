"""Of two calls of produce that do not wait, the library gets the second one first."""

from inner_adapter import Fields, InnerAdapter
from lie import DONE, Lie, deliveries


class SwapsRecords(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.kept: Fields | None = None

    def answer(self, call: Fields) -> Fields:
        if call["call"] == "produce" and not call["wait"] and self.kept is None:
            self.kept = call
            return DONE
        kept, self.kept = self.kept, None
        if kept is None:
            return self.inner.ask(call)
        pair = [call, kept] if call["call"] == "produce" else [kept, call]
        answers = [self.inner.ask(each) for each in pair]
        return {**answers[pair.index(call)], "deliveries": [each for one in answers for each in deliveries(one)]}
