"""A refused commit is called again, up to three times, before it is answered."""

from inner_adapter import Fields
from lie import Lie, deliveries

TIMES = 3


class RetriesRefused(Lie):
    def commit(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        arrived = deliveries(answer)
        for _ in range(TIMES):
            if answer["outcome"] == "refused":
                answer = self.inner.ask(call)
                arrived += deliveries(answer)
        return {**answer, "deliveries": arrived}
