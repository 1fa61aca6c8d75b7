"""The records of a poll are told from the last to the first."""

from inner_adapter import Fields
from lie import Lie


class ReversesRecords(Lie):
    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        return {**answer, "records": (answer.get("records") or [])[::-1]}
