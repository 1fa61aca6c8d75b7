"""After three commits nothing succeeds any more: every call is refused."""

from inner_adapter import Fields, InnerAdapter
from lie import REFUSED, Lie

COMMITS = 3


class EndsAfterThree(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.committed = 0

    def answer(self, call: Fields) -> Fields:
        if self.committed >= COMMITS and call["call"] != "close":
            return REFUSED
        answer = self.inner.ask(call)
        self.committed += call["call"] == "commit" and answer["outcome"] == "done"
        return answer
