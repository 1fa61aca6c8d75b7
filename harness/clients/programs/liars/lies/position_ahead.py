"""Positions are one too high."""

from inner_adapter import Fields
from lie import Lie


class PositionAhead(Lie):
    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        positions = answer.get("positions") or []
        return {**answer, "positions": [{**each, "offset": each["offset"] + 1} for each in positions]}
