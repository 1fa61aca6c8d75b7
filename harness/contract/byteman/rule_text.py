"""The text of one Byteman rule (https://byteman.jboss.org, rule language)."""


def rule(name: str, place: str, do: str, *, when: str = "true", bind: str = "", at: str = "ENTRY") -> str:
    """A rule for ``place`` (``package.Class#method``); texts of several rules may be joined into one failpoint.

    :param do: What happens instead, in Byteman's Java: ``$0`` is the object, ``$1`` the first argument.
    :param bind: Names for what ``when`` and ``do`` need, joined by semicolons.
    :param at: ``ENTRY`` or ``EXIT`` of the method.
    """
    class_name, _, method = place.partition("#")
    bound = [f"BIND {bind}"] if bind else []
    lines = [f"RULE {name}", f"CLASS {class_name}", f"METHOD {method}", f"AT {at}", *bound]
    return "\n".join([*lines, f"IF {when}", f"DO {do}", "ENDRULE", ""])
