"""Adapters that lie on purpose are adapters, and leave no process behind."""

import signal
from pathlib import Path

import pytest

from harness.clients.stdio.adapter_check import TRIALS, check_adapter
from harness.clients.stdio.adapter_process import AdapterFailed
from harness.clients.stdio.lying_adapter import LIES, lying
from suites.selfcheck.clients.stdio.programs import SCRIPTED, SOUND, child_of, program
from suites.selfcheck.clients.stdio.scripted_liar import lying_about

DEAF = "import signal; signal.signal(15, signal.SIG_IGN)"
PAUSES = "    if call['call'] == 'commit': import signal; signal.pause()\n"
HANGS_IN_COMMIT = SCRIPTED.replace("    told =", PAUSES + "    told =")


@pytest.mark.parametrize("lie", ["swallows-fence", "misclassifies"])
def test_a_lying_adapter_is_an_adapter(lie: str, tmp_path: Path) -> None:
    results = list(check_adapter(lying(program(tmp_path, SOUND), lie)))
    assert [result.wrong for result in results] == [""] * len(TRIALS)


def test_every_lie_has_its_test() -> None:
    tests = "".join(
        file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.glob("test_lies_of_*.py"))
    )
    assert [lie for lie in LIES if f'"{lie}"' not in tests] == []


def test_a_lie_that_nobody_knows_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no lie 'white': aborts-instead, .*writes-again"):
        lying(program(tmp_path, SOUND), "white")


@pytest.mark.parametrize("inside", [SCRIPTED, DEAF + SCRIPTED])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_inner_adapter_ends_with_a_signal_to_the_outer_one_alone(
    number: signal.Signals, inside: str, tmp_path: Path
) -> None:
    with lying_about(tmp_path, "no-abort", {}, inside) as adapter:
        adapter.call("begin", within_seconds=20.0)
        inner = child_of(adapter)
        adapter.process.send_signal(number)
        inner.wait(10.0)
        adapter.process.wait(10.0)
        assert not inner.is_running()


def test_the_inner_adapter_ends_when_the_outer_one_ends_while_it_waits_for_an_answer(tmp_path: Path) -> None:
    with lying_about(tmp_path, "no-abort", {}, HANGS_IN_COMMIT) as adapter:
        adapter.call("begin", within_seconds=20.0)
        inner = child_of(adapter)
        with pytest.raises(AdapterFailed, match=r"did not answer commit within 0\.5 s"):
            adapter.call("commit", within_seconds=0.5)
        adapter.process.terminate()
        inner.wait(10.0)
        assert not inner.is_running()


def test_an_inner_adapter_that_crashes_is_told_as_one_that_does(tmp_path: Path) -> None:
    with lying_about(tmp_path, "no-abort", {}, "import sys; sys.stderr.write('no license\\n'); sys.exit(5)") as adapter:
        with pytest.raises(AdapterFailed) as failed:
            adapter.call("begin", within_seconds=20.0)
        assert str(failed.value).splitlines() == [
            "the adapter ./adapter (no-abort) ended with exit code 5 before it answered begin",
            "  no license",
            "  the inner adapter ended before it answered begin",
        ]
