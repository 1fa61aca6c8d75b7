"""Positions are one too low."""

from inner_adapter import Fields
from lie import Lie


class StalePosition(Lie):
    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        positions = answer.get("positions") or []
        return {**answer, "positions": [{**each, "offset": max(0, each["offset"] - 1)} for each in positions]}
