"""Reports of chaos: a page a round, a page a session, ``report.json`` for machines, lines for the terminal."""

from harness.report.chaos.chaos_terminal import conclude_session, not_offered_line, round_line
from harness.report.chaos.publish_chaos import publish_round, publish_session
from harness.report.chaos.session_results import earlier_session

__all__ = ["conclude_session", "earlier_session", "not_offered_line", "publish_round", "publish_session", "round_line"]
