"""After the first error nothing succeeds any more: every call is refused with that error, as a fatal one."""

from inner_adapter import Fields, InnerAdapter
from lie import Lie


class NeverComesBack(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.first: Fields | None = None

    def answer(self, call: Fields) -> Fields:
        if self.first is not None and call["call"] != "close":
            return {"outcome": "refused", "error": {**self.first, "class": "fatal"}}
        answer = self.inner.ask(call)
        if answer["outcome"] == "refused" and answer["error"]["type"] != "unsupported":
            self.first = answer["error"]
        return answer
