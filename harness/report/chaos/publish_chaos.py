"""The last step of a round, of a session, and of the replay of either: pages and documents, from folders, offline."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.json_value import Json
from harness.report.chaos.chaos_document import round_document, session_document
from harness.report.chaos.round_page import round_page
from harness.report.chaos.round_results import read_round
from harness.report.chaos.session_page import front_page
from harness.report.chaos.session_results import read_session
from harness.report.shared.rendering import rendered


def publish_round(folder: Path) -> Path:
    """Write ``index.html`` and ``report.json`` of a round from its folder alone; the path of the page.

    :raises Trouble: EVIDENCE_UNREADABLE, when ``run.json``, ``judgement.json`` or ``timeline.json`` cannot be read.
    """
    round_ = read_round(folder)
    _document(folder, round_document(round_))
    return _write(folder / "index.html", rendered("chaos/round.html.j2", page=round_page(round_)))


def publish_session(folder: Path, rounds: Sequence[Path]) -> Path:
    """Write ``index.html`` and ``report.json`` of a session into ``folder``; the path of the page.

    The rounds' own pages are left as they are: :func:`publish_round` makes them.

    :raises Trouble: As for a round.
    """
    session = read_session(folder, rounds)
    _document(folder, session_document(session))
    return _write(folder / "index.html", rendered("chaos/session.html.j2", page=front_page(session)))


def _document(folder: Path, report: Mapping[str, Json]) -> None:
    _write(folder / "report.json", json.dumps(report, indent=1, ensure_ascii=False) + "\n")


def _write(path: Path, text: str) -> Path:
    torn = path.with_name(path.name + ".part")
    torn.write_text(text, encoding="utf-8", errors="replace")
    return torn.replace(path).absolute()
