"""A second produce of a transaction is another producer's, which begins the transaction anew and writes all of it."""

from inner_adapter import Fields, InnerAdapter
from lie import Lie


class BeginsAnew(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.opening: list[Fields] = []
        self.written: list[Fields] = []  # of this transaction

    def answer(self, call: Fields) -> Fields:
        if call["call"] in ("open", "subscribe"):
            self.opening.append(call)
        return super().answer(call)

    def begin(self, call: Fields) -> Fields:
        self.written = []
        return self.inner.ask(call)

    def produce(self, call: Fields) -> Fields:
        if self.written:
            self.inner.start_again()
            for again in (*self.opening, {"call": "init"}, {"call": "begin"}, *self.written):
                self.inner.ask(again)
        self.written.append({**call, "wait": True})
        return self.inner.ask(call)
