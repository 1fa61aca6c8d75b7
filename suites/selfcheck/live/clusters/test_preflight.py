"""What is advertised and refused as a whole is one sentence; silence, a single refusal and a passing error are none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import preflight
from harness.base.kafka_error import KafkaError
from harness.base.user_error import ExitCode
from harness.cluster.run_options import RunOptions
from harness.evidence.run_folder import RunFolder
from harness.preflight import TransactionRefusal, refused_under_every_id
from harness.run import Run, close, open_target
from harness.wire.frame_codec import RequestHeader
from suites.selfcheck.fixtures.answering_proxy import HangUpError, answering_proxy
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.mock_cluster import mock_brokers
from suites.selfcheck.fixtures.user_errors import raises_user_error

REFUSED = TransactionRefusal(api="EndTxn", version=4, error=KafkaError.INVALID_TXN_STATE, message=None)
ELSEWHERE = TransactionRefusal(api="Produce", version=11, error=KafkaError.INVALID_TXN_STATE, message=None)

Answer = Callable[[RequestHeader], "int | bool"]


def to(api: str, *answers: int | bool) -> Answer:
    """These answers to an API, one after the other, then the last again and again; the broker's to all others."""
    left = list(answers)

    def answer(head: RequestHeader) -> int | bool:
        if head.api != api:
            return True
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


@contextmanager
def target(answer: Answer) -> Iterator[str]:
    """A mock cluster of one broker, behind a proxy at another port than the one that it advertises."""
    with mock_brokers(1) as brokers, answering_proxy(brokers[1], answer) as address:
        yield f"external:{address}"


def opened(answer: Answer, folder: Path) -> None:
    """Open the target as a qualification does."""
    with target(answer) as name:
        kept = RunFolder.create(folder / "run", {"target": name})
        run = Run(options=RunOptions(target=name, folder=kept.path), folder=kept, journal=kept.journal())
        try:
            open_target(run)
        finally:
            close(run)


@pytest.mark.parametrize(
    ("api", "versions", "error", "name"),
    [
        ("FindCoordinator", "0–3", KafkaError.COORDINATOR_NOT_AVAILABLE, "COORDINATOR_NOT_AVAILABLE"),
        ("InitProducerId", "0–4", KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "TRANSACTIONAL_ID_AUTHORIZATION"),
        ("EndTxn", "0–1", KafkaError.INVALID_TXN_STATE, "INVALID_TXN_STATE"),
        ("EndTxn", "0–1", 3999, "UNLISTED"),
    ],
)
def test_a_request_that_is_refused_under_every_id_is_one_sentence(
    api: str, versions: str, error: int, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(preflight, "PATIENCE_SECONDS", 0.2)
    low, high = versions.split("–")
    sentence = rf"advertises {api} v{low}–v{high} and refuses every transactional id with \w*{name}.* \({int(error)}\)"
    with raises_user_error(ExitCode.TRANSACTIONS_REFUSED, sentence):
        opened(to(api, error), tmp_path)


def test_a_sound_target_is_opened(tmp_path: Path) -> None:
    opened(to("EndTxn", True), tmp_path)


def test_an_error_that_passes_is_waited_out(tmp_path: Path) -> None:
    opened(to("EndTxn", *[KafkaError.CONCURRENT_TRANSACTIONS] * 4, True), tmp_path)


def test_a_refusal_of_some_ids_is_for_requirements_to_judge(tmp_path: Path) -> None:
    opened(to("EndTxn", KafkaError.INVALID_TXN_STATE, KafkaError.INVALID_TXN_STATE, True), tmp_path)


def test_silence_is_for_requirements_to_judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "ANSWER_SECONDS", 0.2)
    opened(to("EndTxn", False), tmp_path)


def test_a_lost_connection_is_for_requirements_to_judge(tmp_path: Path) -> None:
    def hang_up(head: RequestHeader) -> bool:
        if head.api == "EndTxn":
            raise HangUpError
        return True

    opened(hang_up, tmp_path)


def test_the_command_ends_with_the_sentence_and_the_code(tmp_path: Path) -> None:
    with target(to("EndTxn", KafkaError.INVALID_TXN_STATE)) as name:
        ended = fencepost("qualify", name, "--report-dir", str(tmp_path / "run"))
    assert ended.returncode == ExitCode.TRANSACTIONS_REFUSED
    assert "nothing can be judged" in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("trials", "found"),
    [
        ([REFUSED] * 3, REFUSED),
        ([None], None),
        ([REFUSED, REFUSED, None], None),
        ([REFUSED, ELSEWHERE], None),
    ],
)
def test_only_the_same_request_refused_each_time_counts(
    trials: list[TransactionRefusal | None], found: TransactionRefusal | None
) -> None:
    tried: list[int] = []

    def trial(number: int) -> TransactionRefusal | None:
        tried.append(number)
        return trials[number]

    assert refused_under_every_id(trial) == found
    assert tried == list(range(len(trials)))
