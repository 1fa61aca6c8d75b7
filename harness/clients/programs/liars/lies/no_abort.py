"""A transaction that was to be aborted stays open, and the next one goes on in it."""

from inner_adapter import Fields, InnerAdapter
from lie import DONE, Lie


class NoAbort(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.begun = self.left_open = False

    def begin(self, call: Fields) -> Fields:
        if self.left_open:
            self.left_open = False
            return DONE
        answer = self.inner.ask(call)
        self.begun = self.begun or answer["outcome"] == "done"
        return answer

    def commit(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        self.begun = self.begun and answer["outcome"] != "done"
        return answer

    def abort(self, _call: Fields) -> Fields:
        self.left_open = self.begun
        return DONE
