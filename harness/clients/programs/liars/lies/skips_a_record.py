"""Every second record that the library delivers is not told, while the positions pass over it."""

from inner_adapter import Fields, InnerAdapter
from lie import Lie


class SkipsARecord(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.read = 0

    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        records = answer.get("records") or []
        first, self.read = self.read % 2, self.read + len(records)
        return {**answer, "records": records[first::2]}
