"""How many files and connections one process may have open: a crowd of clients needs more than a shell allows."""

import resource

WANTED = 16_384


def allow_open_files(wanted: int = WANTED) -> None:
    """Raise this process's limit, which processes that it starts inherit, as far as its hard limit allows.

    It is 1,024 in most shells and 256 on macOS, while the hard limit is mostly half a million (``ulimit -Hn``).
    """
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    raised = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if allowed != resource.RLIM_INFINITY and allowed < raised:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, most))


def open_files_allowed() -> int:
    """How many this process may have open now."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED if allowed == resource.RLIM_INFINITY else allowed
