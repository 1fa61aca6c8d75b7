"""Where nothing has failed in a transaction, its commit is an abort, and told as the commit that was asked for."""

from inner_adapter import Fields, InnerAdapter
from lie import Lie, deliveries


class AbortsInstead(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.failed = False

    def answer(self, call: Fields) -> Fields:
        self.failed = self.failed and call["call"] != "begin"
        answer = super().answer(call)
        self.failed = self.failed or has_failed(answer)
        return answer

    def commit(self, call: Fields) -> Fields:
        flushed = self.inner.ask({"call": "flush"})
        fails = self.failed or has_failed(flushed)
        answer = self.inner.ask(call if fails else {**call, "call": "abort"})
        return {**answer, "deliveries": [*deliveries(flushed), *deliveries(answer)]}


def has_failed(answer: Fields) -> bool:
    """Whether the call failed, or a record."""
    return any(each["outcome"] != "done" for each in (answer, *deliveries(answer)))
