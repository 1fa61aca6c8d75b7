"""Where the first record is written, another producer writes it too, and crashes with its transaction open."""

from inner_adapter import Fields, InnerAdapter
from lie import Lie


class LeavesOpen(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.opening: Fields = {}
        self.left = False

    def open(self, call: Fields) -> Fields:
        self.opening = call
        return self.inner.ask(call)

    def produce(self, call: Fields) -> Fields:
        if not self.left and self.opening.get("transactional_id"):
            self.left = True
            self._leave_open(call)
        return self.inner.ask(call)

    def _leave_open(self, produce: Fields) -> None:
        other = InnerAdapter(self.inner.command)
        id_ = f"{self.opening['transactional_id']}-other"
        for call in ({**self.opening, "transactional_id": id_}, {"call": "init"}, {"call": "begin"}):
            other.ask(call)
        other.ask({**produce, "wait": True})
        other.crash()
