"""Every error has a class, but another one than the library gave it."""

from inner_adapter import Fields
from lie import Lie, errors

CLASSES = {"abortable": "fatal", "fatal": "abortable", "fenced": "abortable", "retriable": "fatal"}


class Misclassifies(Lie):
    def answer(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        for error in errors(answer):
            error["class"] = CLASSES.get(error.get("class"))
        return answer
