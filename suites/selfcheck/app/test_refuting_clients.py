"""On which client a negative control is tried: another one, one behind a lie, or the sound one on broken brokers."""

from pathlib import Path

import pytest

from harness.app.clients import refuting_clients
from harness.app.clients.refuting_clients import RefutingClients
from harness.base.paths import CLIENTS
from harness.base.user_error import ExitCode, UserError
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.contract import Liar, LiveRefuter, LyingClient, OtherClient
from harness.contract.catalogue.requirement_catalogue import find
from harness.contract.refuters import SOUND_CLIENT
from suites.selfcheck.clients.stdio.programs import program

REQUIREMENT = next(find(CLIENTS)).requirement
LIE = LyingClient(lie="loses-records", anomaly="lost")
OTHER = OtherClient(client="java:2.8.2", anomaly="lost")
BROKER = Liar(api="EndTxn", error=0, anomaly="lost")


@pytest.fixture(name="had")
def _had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The clients that were asked for, by name; each is a small program."""
    asked: list[str] = []

    def command(name: str, _progress: object) -> AdapterCommand:
        asked.append(name)
        return AdapterCommand(name=name, command=program(tmp_path, SOUND_TEXT).command)

    monkeypatch.setattr(refuting_clients, "adapter_command", command)
    return asked


SOUND_TEXT = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "outcome": "done", "library": "fake", "version": "1"}), flush=True)
"""


@pytest.mark.parametrize(
    ("refuter", "client"), [(LIE, SOUND_CLIENT), (OTHER, "java:2.8.2"), (BROKER, SOUND_CLIENT)], ids=str
)
def test_each_is_had_once_and_the_requirement_is_bound_to_it(had: list[str], refuter: LiveRefuter, client: str) -> None:
    clients = RefutingClients(lambda _: None)
    bound = [clients.bound(REQUIREMENT, refuter) for _ in range(2)]
    assert had == [client]
    assert {each.id for each in bound} == {REQUIREMENT.id}
    assert bound[0].stimulus is not REQUIREMENT.stimulus
    (only,) = clients.had.values()
    assert not isinstance(only, UserError)
    assert ("liar.py" in " ".join(only.command.command)) is isinstance(refuter, LyingClient)


def test_one_that_cannot_be_had_is_told_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(name: str, _progress: object) -> AdapterCommand:
        raise UserError(f"no {name}", exit=ExitCode.TOOL_MISSING)

    monkeypatch.setattr(refuting_clients, "adapter_command", command)
    clients = RefutingClients(lambda _: None)
    for _ in range(2):
        with pytest.raises(UserError, match=r"no java:2\.8\.2"):
            clients.bound(REQUIREMENT, OTHER)
