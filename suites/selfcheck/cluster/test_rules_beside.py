"""Rules of one node beside those of all: only they are taken out, and only theirs are told as come to."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.cluster.nodes.failpoints import Failpoints

RULES = "RULE slow\nDO a\nENDRULE\nRULE late\nDO b\nENDRULE\n"
LISTED = "RULE of all nodes\ncompiled successfully\nRULE slow\ncompiled successfully\nRULE late\nnot compiled\n"


class Listener:
    """Byteman in one node.

    :param listed: What it lists. :param loaded: What it answers to a script.
    """

    def __init__(self, *, listed: str = LISTED, loaded: str = "install rule slow") -> None:
        self.listed, self.loaded, self.commands = listed, loaded, list[str]()

    def answer(self, _node: object, command: str) -> str:
        self.commands.append(command)
        return {"LIST": self.listed, "LOAD": self.loaded}.get(command.split("\n")[0], "")


@pytest.fixture
def failpoints(monkeypatch: pytest.MonkeyPatch) -> Failpoints:
    monkeypatch.setattr(Failpoints, "prepare", lambda *_: None)
    return Failpoints(addresses=cast(Any, None), scripts=["RULE of all nodes"])


NODE = cast(Any, SimpleNamespace(name="broker-2"))


def test_what_is_kept_stays_and_only_the_nodes_own_rules_are_told(
    failpoints: Failpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    monkeypatch.setattr(Failpoints, "_command", lambda _, *asked: listener.answer(*asked))
    failpoints.load_beside(NODE, RULES)
    assert failpoints.unload_beside(NODE, RULES) == {"slow"}
    assert failpoints.scripts == ["RULE of all nodes"]
    script = f"SCRIPT fencepost-0\n{RULES}ENDSCRIPT\n"
    assert listener.commands == [f"LOAD\n{script}ENDLOAD\n", "LIST\n", "LIST\n", f"DELETE\n{script}ENDDELETE\n"]


def test_rules_that_do_not_apply_are_taken_out_at_once(failpoints: Failpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener(loaded="EXCEPTION no such class")
    monkeypatch.setattr(Failpoints, "_command", lambda _, *asked: listener.answer(*asked))
    with pytest.raises(RuntimeError, match="broker-2: EXCEPTION no such class"):
        failpoints.load_beside(NODE, RULES)
    assert listener.commands[-1].startswith("DELETE\nSCRIPT fencepost-0\n")
