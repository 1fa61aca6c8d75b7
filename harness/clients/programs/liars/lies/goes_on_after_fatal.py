"""The first error after which the producer cannot go on is not told: another producer goes on in its place."""

from inner_adapter import Fields, InnerAdapter
from lie import Lie, cannot_go_on, deliveries


class GoesOnAfterFatal(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.opening: list[Fields] = []  # what the other one begins with
        self.went_on = False

    def answer(self, call: Fields) -> Fields:
        if call["call"] in ("open", "subscribe"):
            self.opening.append(call)
        return super().answer(call)

    def produce(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        if self.went_on or not cannot_go_on(answer):
            return answer
        self.went_on = True
        self.inner.start_again()
        for first in (*self.opening, {"call": "init"}, {"call": "begin"}):
            self.inner.ask(first)
        again = self.inner.ask(call)
        of_others = [each for each in deliveries(answer) if each["value"] not in call.get("values", ())]
        return {**again, "deliveries": [*of_others, *deliveries(again)]}

    commit = abort = produce
