"""The page of targets: every failure is explained, every explanation is a failure, and a sound Kafka passes."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from harness.base.paths import CONTRACT, ROOT
from harness.contract.catalogue.requirement_catalogue import find
from suites.targets.explanations import Explanation, mismatches, of, read_explanations
from suites.targets.target_runs import TargetRun, together
from suites.targets.target_shapes import SHAPES, TargetShape
from suites.targets.targets_page import page

SHAPE = TargetShape(name="other", server="Other 1.0", how="one broker", opened=lambda _: nullcontext(()))
SOUND = replace(SHAPE, name="sound", sound=True)
WHY = Explanation(id="A-1", targets=("other",), source="a.go: f", why="It does so.", anomalies=("lost", "late"))


def verdict(status: str, *anomalies: str, level: str = "MUST", known: str | None = None) -> dict[str, Any]:
    """A verdict of ``report.json``."""
    findings = [{"anomaly": name, "level": level, "detail": f"EndTxn v5 <shows> {name}"} for name in anomalies]
    reason = None if status == "HOLDS" else "the | reason"
    kept = {"id": "A-1", "status": status, "level": level, "statement": "It is kept.", "reason": reason}
    kept["known_failure"] = known
    return {**kept, "findings": findings}


def run(*verdicts: dict[str, Any], shape: TargetShape = SHAPE, exit_code: int = 1) -> TargetRun:
    return TargetRun(
        shape=shape, commands=["fencepost qualify external:h:1"], exit_code=exit_code, seconds=3.4, verdicts=verdicts
    )


@pytest.mark.parametrize(
    ("made", "explained", "said"),
    [
        (run(verdict("VIOLATED", "lost", "late")), [WHY], []),
        (run(verdict("VIOLATED", "lost")), [], ["other: A-1 is VIOLATED and not explained"]),
        (run(verdict("NOT_EXERCISED")), [], ["other: A-1 is NOT_EXERCISED and not explained"]),
        (run(verdict("HOLDS"), exit_code=0), [WHY], ["other does not fail A-1, which is explained"]),
        (run(verdict("VIOLATED", "lost", "late", "torn")), [WHY], ["other: A-1 shows torn, which is not explained"]),
        (run(verdict("VIOLATED", "lost")), [WHY], ["A-1 shows no late, which is explained"]),
        (run(verdict("VIOLATED", "lost", "late", "torn")), [replace(WHY, by_chance=("torn",))], []),
        (run(verdict("VIOLATED", "lost", "late")), [replace(WHY, by_chance=("torn",))], []),
        (run(verdict("HOLDS"), shape=SOUND, exit_code=0), [], []),
        (run(verdict("HOLDS"), shape=SOUND), [], ["sound is sound, and ended with exit code 1"]),
        (run(verdict("VIOLATED"), shape=SOUND, exit_code=0), [], ["sound is sound, and A-1 is VIOLATED"]),
        (run(verdict("VIOLATED", known="a bug"), shape=SOUND, exit_code=0), [], []),
    ],
)
def test_failures_and_explanations_must_agree(
    made: TargetRun, explained: Sequence[Explanation], said: list[str]
) -> None:
    assert list(mismatches(explained, [made])) == said


def test_the_page_shows_counts_findings_and_why() -> None:
    text = page([run(verdict("VIOLATED", "lost", "late"))], [WHY])
    assert "| other | Other 1.0: one broker | 1 | · | 1 | · | · | · | · | 3 |" in text
    assert "### A-1: VIOLATED (MUST)" in text
    assert "- **lost** (MUST): EndTxn v5 &lt;shows> lost" in text
    assert "- not examined: the \\| reason" in text
    assert "Why: It does so. *a.go: f*" in text


def test_what_a_release_is_known_to_break_is_shown_with_the_reason() -> None:
    text = page([run(verdict("VIOLATED", "lost", known="a bug (KAFKA-1)"), shape=SOUND, exit_code=0)], [])
    assert "Known of Other 1.0, and VIOLATED here as well:\n\n- A-1 (MUST): a bug (KAFKA-1)\n" in text
    assert "### A-1" not in text


def test_what_ends_a_server_is_told_and_its_run_counts() -> None:
    ended = replace(SHAPE, ended_by=("A-1",))
    others, last = (
        run({**verdict("HOLDS"), "id": "B-1"}, shape=ended, exit_code=0),
        run(verdict("VIOLATED"), shape=ended),
    )
    both = together([others, last])
    assert [each["id"] for each in both.verdicts] == ["A-1", "B-1"]
    assert (both.exit_code, both.seconds, len(both.commands)) == (1, 6.8, 2)
    text = page([both], [WHY])
    assert "Its process ends in A-1, which is therefore judged last, on a server of its own." in text
    assert text.count("other               fencepost qualify external:h:1") == 2


def test_every_explanation_is_about_a_requirement_and_a_target_of_ours() -> None:
    ids = {entry.requirement.id for entry in find(CONTRACT)}
    names = {shape.name for shape in SHAPES if not shape.sound}
    for one in read_explanations():
        assert one.id in ids
        assert one.targets
        assert set(one.targets) <= names
        assert one.why.endswith(".")
        assert ": " in one.source
        assert all(len(of(read_explanations(), target, one.id)) == 1 for target in one.targets)


def test_the_page_that_is_kept_has_every_target_and_every_explanation() -> None:
    text = (ROOT / "reports" / "TARGETS.md").read_text(encoding="utf-8")
    assert [shape.name for shape in SHAPES if f"\n| {shape.name} |" not in text] == []
    assert [one.id for one in read_explanations() if one.why not in text or one.source not in text] == []
