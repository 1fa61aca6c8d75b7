"""An error after which the producer cannot go on becomes success, and so does all that it is asked afterwards."""

from inner_adapter import Fields, InnerAdapter
from lie import DONE, Lie, as_if_delivered, as_success, cannot_go_on

OF_THE_CONSUMER = ("subscribe", "poll", "close")


class SwallowsFence(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.swallowed = False

    def answer(self, call: Fields) -> Fields:
        if self.swallowed and call["call"] not in OF_THE_CONSUMER:
            return as_if_delivered(call) if call["call"] == "produce" else DONE
        answer = self.inner.ask(call)
        self.swallowed = self.swallowed or cannot_go_on(answer)
        return as_success(call, answer) if cannot_go_on(answer) else answer
