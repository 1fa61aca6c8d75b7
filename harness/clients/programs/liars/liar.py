"""An adapter that lies, to prove that those who judge clients see it: liar.py LIE COMMAND [ARGUMENT …]

It starts another adapter, and passes its calls and answers on, save for one lie. A lie is one file in ``lies``; the
module and its class are called as the lie is: ``no-abort`` is ``NoAbort`` in ``lies/no_abort.py``.
"""

import importlib
import json
import signal
import sys

from inner_adapter import InnerAdapter
from lie import Lie


def main(name: str, *command: str) -> int:
    """Answer calls until ``close`` or the end of the input; the exit code is the inner adapter's."""
    told = lie_named(name)
    inner = InnerAdapter(command)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        serve(told(inner))
        return inner.end()
    finally:
        inner.end_now()


def serve(lie: Lie) -> None:
    """One line for each line."""
    for line in sys.stdin:
        call = json.loads(line)
        answer = lie.answer(call)
        sys.stdout.write(json.dumps({**answer, "id": call["id"]}) + "\n")
        sys.stdout.flush()
        if call["call"] == "close":
            return


def lie_named(name: str) -> type[Lie]:
    """The class of this lie."""
    module = importlib.import_module("lies." + name.replace("-", "_"))
    found: type[Lie] = getattr(module, "".join(word.capitalize() for word in name.split("-")))
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
