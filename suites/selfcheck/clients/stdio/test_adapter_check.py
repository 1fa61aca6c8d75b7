"""The trials of an adapter: a sound one passes all, and each way to be wrong is found by one of them."""

from pathlib import Path

import pytest

from harness.clients.stdio import adapter_check, adapter_process
from harness.clients.stdio.adapter_check import TRIALS, check_adapter
from suites.selfcheck.clients.stdio.programs import SOUND, but, program

ALSO = 'case "begin" | "subscribe": print("hm", flush=True); answer('
DEAF = "import json, signal; signal.signal(15, signal.SIG_IGN); import json"
STRICT = 'case "close" if "not_known_to_you" in call: refused(call["id"], "TypeError")\n        case "close":'
WRONG = {
    "library's name": (but('library="fake", ', ""), "without library"),
    "refused as unsupported": (but('"unsupported"', '"Unknown"'), "no_such_call was answered refused: Unknown"),
    "init without a broker": (but('case "begin"', 'case "init" | "begin"'), "init is done although no broker is there"),
    "commit without a transaction": (but('case "begin"', 'case "commit" | "begin"'), "there is no transaction"),
    "poll without a broker": (but('sleep(call["within_ms"] / 1000); ', ""), "answered at once, without records"),
    "nothing but answers": (but('case "begin" | "subscribe": answer(', ALSO), "answered begin with 'hm'"),
    "close is answered": (but("break", "sys.exit(3)"), "exit code 3 after close"),
    "close is": (but('case "close":', STRICT), "close was answered refused: TypeError"),
    "end of its input": (SOUND + "\nsys.exit(4)", "exit code 4 after the end of its input"),
    "SIGTERM": (but("import json", DEAF), "after SIGTERM"),
}


def test_a_sound_adapter_passes_every_trial(tmp_path: Path) -> None:
    results = list(check_adapter(program(tmp_path, SOUND)))
    assert [result.wrong for result in results] == [""] * len(TRIALS)


@pytest.mark.parametrize("trial", WRONG)
def test_a_wrong_adapter_is_found(trial: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if trial == "SIGTERM":  # the one whose time has to pass
        for module in (adapter_check, adapter_process):
            monkeypatch.setattr(module, "END_SECONDS", 1.0)
    if trial == "poll without a broker":  # the one that has to come long before it has
        monkeypatch.setattr(adapter_check, "POLL_MS", 10_000)
    text, sentence = WRONG[trial]
    wrong = {result.title: result.wrong for result in check_adapter(program(tmp_path, text)) if result.wrong}
    found = next((said for title, said in wrong.items() if trial in title), "")
    assert found
    assert sentence in found


def test_what_cannot_be_opened_is_tried_once(tmp_path: Path) -> None:
    results = list(check_adapter(program(tmp_path, "print('hello', flush=True)")))
    assert len(results) == 1
    assert "answered open with 'hello': it is not JSON" in results[0].wrong
