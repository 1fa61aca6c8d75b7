"""The offset of every record is one too high."""

from inner_adapter import Fields
from lie import Lie


class ShiftsOffsets(Lie):
    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        records = answer.get("records") or []
        return {**answer, "records": [{**each, "offset": each["offset"] + 1} for each in records]}
