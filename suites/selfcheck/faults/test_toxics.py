"""What holds for every toxic, without a cluster: found by its place, drawn purely, never on the observer's lane."""

import ast
import json
import random
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.addresses import Address
from harness.base.deferred_action import deferred
from harness.base.paths import ROOT
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.faults.proxy_faults import draw_proxy
from harness.faults.toxic import ClusterShape, MinimumDuration, Power
from harness.faults.typed_draws import number, numbers, text, texts
from harness.machine.socket_traffic import established

TOXICS = find_toxics()
SHAPE = ClusterShape(topics={"accounts": 3, "out": 1}, transactional_ids=("teller-1", "teller-2"))
KINDS = {"network": Power.NETWORK, "process": Power.PROCESS, "clients": Power.CLIENTS}
FILES = [
    path
    for kind in ("network", "process", "coordinator", "frames", "clients")
    for path in sorted((ROOT / "toxics" / kind).glob("*.py"))
    if path.stem != "__init__"
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_toxic_is_one_file_that_documents_what_it_needs_and_what_it_counts(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstring = " ".join((ast.get_docstring(tree) or "").split())
    assert "Needs " in docstring
    assert "Counts " in docstring
    assert path.stem.replace("_", "-") in TOXICS


def test_power_follows_from_what_is_touched() -> None:
    for path in FILES:
        toxic = TOXICS[path.stem.replace("_", "-")]
        kind = path.parent.name
        assert toxic.power == KINDS.get(kind, toxic.power)
        assert (toxic.power is Power.FRAMES) == (kind == "frames")


def test_liars_are_never_found() -> None:
    liars = {path.stem.replace("_", "-") for path in (ROOT / "toxics" / "liars").glob("*.py")}
    assert len(liars) > 1
    assert liars.isdisjoint(TOXICS)


def test_two_toxics_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = tmp_path / "doubled" / "network"
    kind.mkdir(parents=True)
    for place in (kind.parent, kind):
        (place / "__init__.py").touch()
    for name in ("one", "other"):
        (kind / f"{name}.py").write_text("from toxics.network import latency\n\nTOXIC = latency.TOXIC\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="two toxics are called latency"):
        find_toxics(kind.parent)


@pytest.mark.parametrize("name", TOXICS)
@given(seed=st.integers(min_value=0, max_value=2**31))
@settings(max_examples=25)
def test_a_draw_is_pure_and_goes_through_json(name: str, seed: int) -> None:
    drawn = TOXICS[name].draw(SHAPE, random.Random(seed))
    assert drawn == TOXICS[name].draw(SHAPE, random.Random(seed))
    assert json.loads(json.dumps(dict(drawn))) == dict(drawn)
    assert "observer" not in json.dumps(dict(drawn))


def test_every_link_and_lane_is_drawn_sooner_or_later_and_never_the_observers() -> None:
    draw = random.Random(7)
    drawn = {draw_proxy(SHAPE, draw) for _ in range(2_000)}
    links = {f"link-{i}-{j}" for i in (1, 2, 3) for j in (1, 2, 3, 4) if i != j}
    assert drawn == links | {f"lane-{lane}-{k}" for lane in ("victim", "rival") for k in (1, 2, 3)}
    assert not any(draw_proxy(SHAPE, draw, controller=False).endswith("-4") for _ in range(500))


def test_those_that_need_a_session_to_expire_or_three_restarts_ask_for_their_time() -> None:
    asking = {
        name for name, toxic in TOXICS.items() if isinstance(toxic, MinimumDuration) and toxic.power != Power.FRAMES
    }
    assert asking == {
        *("isolate-from-controller", "pause", "pause-fenced", "kill-controller", "expire-ids"),
        *("rolling-restart", "rolling-upgrade", "upgrade-and-back", "slow-disk", "clock-jump"),
    }


def test_what_was_not_drawn_as_such_is_refused() -> None:
    assert (number({"n": 1}, "n"), text({"t": "a"}, "t")) == (1, "a")
    assert (numbers({"l": [3, 1]}, "l"), texts({"l": ["b", "a"]}, "l")) == ((3, 1), ("b", "a"))
    for read, wrong in ((number, "1"), (text, 1), (numbers, ["1"]), (numbers, 1), (texts, [1]), (texts, "a")):
        with pytest.raises(ValueError, match="no "):
            read({"key": wrong}, "key")  # type: ignore[dict-item]


def test_what_is_due_later_happens_once_when_its_time_has_come_or_the_block_is_left() -> None:
    done: list[str] = []
    with deferred(3_600, lambda: done.append("left")):
        assert done == []
    with deferred(0, lambda: done.append("due")) as left:
        assert not left.is_set()
    assert done == ["left", "due"]


def test_what_goes_wrong_later_is_raised_when_the_block_is_left() -> None:
    def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"), deferred(0, fail):
        pass


def test_the_kernel_reports_how_much_a_connection_has_received() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as asking:
        served, _ = server.accept()
        with served:
            asking.sendall(b"x" * 1234)
            assert len(served.recv(1234, socket.MSG_WAITALL)) == 1234
            ours, theirs = Address(*asking.getsockname()), Address(*server.getsockname())
            found = [*established(ours), *established(theirs)]
    assert [(one.local, one.received) for one in found] == [(ours, 0), (theirs, 1234)]


def test_connections_of_an_ended_process_cannot_be_listed() -> None:
    with pytest.raises(OSError, match="No such file"):
        established(Address("127.0.0.1", 9092), 2**22 + 1)
