"""The lie that is a value: an answer's error code or fields replaced, see :class:`AnswerRewrite`."""

from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.json_codec import from_plain
from harness.faults.gate.lie import LiedRequest
from harness.wire.codec.answer_rewrite import AnswerRewrite


@dataclass(frozen=True, slots=True)
class RewrittenAnswer:
    """Fills :class:`harness.faults.gate.lie.Lie`."""

    rewrite: AnswerRewrite

    def request(self, asked: LiedRequest) -> object:
        """Forwarded as it is."""
        return asked.body

    def response(self, _asked: LiedRequest, body: object) -> object:
        """The answer changed."""
        return self.rewrite.of(body)


def rewritten_answer(**rewrite: Json) -> RewrittenAnswer:
    """From plain values; :raises Malformed: when they are no :class:`AnswerRewrite`."""
    return RewrittenAnswer(from_plain(AnswerRewrite, rewrite))
