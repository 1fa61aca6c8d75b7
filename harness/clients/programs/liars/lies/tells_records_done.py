"""Every record is told as written, whatever became of it."""

from inner_adapter import Fields
from lie import Lie, as_success, delivered


class TellsRecordsDone(Lie):
    def answer(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        if call["call"] == "produce" and (call["wait"] or answer["outcome"] != "done"):
            return as_success(call, answer)
        return {**answer, "deliveries": delivered(answer)}
