"""The last step of a round, of a session, and of the replay of either: pages and documents, from folders, offline."""

from collections.abc import Sequence
from pathlib import Path

from harness.report.chaos.chaos_document import round_document, session_document
from harness.report.chaos.round_page import round_page
from harness.report.chaos.round_results import read_round
from harness.report.chaos.session_page import session_page
from harness.report.chaos.session_results import read_session
from harness.report.shared.published_files import write_report
from harness.report.shared.rendering import rendered


def publish_round(folder: Path) -> Path:
    """Write ``index.html`` and ``report.json`` of a round from its folder alone; the path of the page.

    :raises UserError: EVIDENCE_UNREADABLE, when ``run.json``, ``judgement.json`` or ``timeline.json`` cannot be read.
    """
    round_ = read_round(folder)
    return write_report(folder, round_document(round_), rendered("chaos/round.html.j2", page=round_page(round_)))


def publish_session(folder: Path, rounds: Sequence[Path]) -> Path:
    """Write ``index.html`` and ``report.json`` of a session into ``folder``; the path of the page.

    The rounds' own pages are left as they are: :func:`publish_round` makes them.

    :raises UserError: As for a round.
    """
    session = read_session(folder, rounds)
    page = rendered("chaos/session.html.j2", page=session_page(session))
    return write_report(folder, session_document(session), page)
