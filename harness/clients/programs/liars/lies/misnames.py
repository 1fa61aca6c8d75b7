"""Every error has the name and number of INVALID_TXN_STATE, and wraps nothing."""

from inner_adapter import Fields
from lie import Lie, errors

NAMED: Fields = {"type": "InvalidTxnStateException", "code": 48, "bases": [], "causes": []}


class Misnames(Lie):
    def answer(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        for error in errors(answer):
            error.update(NAMED)
        return answer
