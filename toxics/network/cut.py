"""Cut a link or a lane: its connections end, and new ones are refused, until it is mended.

A disabled Toxiproxy proxy. What lay on it, held or on its way, is lost, and the sender sees its connection end at once
instead of waiting for its request's timeout. Needs a proxy. Proof that it struck: a request that had to travel through
it is answered inside the window, by the sender, with the error of a lost connection.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from harness.history.evidence import Fault
from harness.lab import Lab


@contextmanager
def cut(lab: Lab, proxy: str, *, name: str) -> Iterator[None]:
    """Cut ``proxy`` for the length of the block and note the window.

    :raises Unprepared: When nothing stands between.
    """
    started = lab.now()
    lab.links.disable(proxy)
    try:
        yield
    finally:
        ended = lab.now()
        lab.links.enable(proxy)
        lab.notes.faults.append(Fault(name=name, kind="cut", where=proxy, started=started, ended=ended))
