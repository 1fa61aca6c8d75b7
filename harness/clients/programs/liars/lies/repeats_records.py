"""Every record that the library delivers is told twice."""

from inner_adapter import Fields
from lie import Lie


class RepeatsRecords(Lie):
    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        return {**answer, "records": [each for each in answer.get("records") or [] for _ in range(2)]}
