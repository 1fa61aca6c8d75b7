"""Every position is the beginning."""

from inner_adapter import Fields
from lie import Lie


class ForgetsPosition(Lie):
    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        positions = answer.get("positions") or []
        return {**answer, "positions": [{**each, "offset": 0} for each in positions]}
