"""Interrupts that Python hands on as something else."""


def is_interrupt(error: BaseException) -> bool:
    """Whether a KeyboardInterrupt is among the errors from which, or in whose handling, this one was raised.

    Python 3.11 raises a RuntimeError from whatever comes out of ``__set_name__`` (``type_new_set_names``), which is
    where an interrupt may strike while a module of many dataclasses is imported; and what is tidied up after an
    interrupt may fail in its turn.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
