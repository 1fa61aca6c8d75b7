"""A negative control: the cluster with a defence switched off, so that a requirement must turn VIOLATED on it."""

from contextlib import AbstractContextManager, nullcontext
from typing import assert_never

from harness.contract import Failpoint, Liar, LiveRefuter, LyingClient, OtherClient, Release, Setting
from harness.lab.lab import Lab


def made_to_fail(lab: Lab, refuter: LiveRefuter | None) -> AbstractContextManager[object]:
    """The cluster with its defence switched off, for the length of a negative control."""
    match refuter:
        case None | Release() | OtherClient() | LyingClient():
            return nullcontext()
        case Setting(key=key, value=value):
            return lab.admin.setting(key, value)
        case Failpoint(rules=rules):
            return lab.broken(rules)
        case Liar():
            observer = lab.step_recorder("observer").client
            return lab.request_gate.lies(refuter, lab.cluster.topology, observer, lab.notes.faults)
    assert_never(refuter)
