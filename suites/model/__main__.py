"""``make model``: explore every scope; exit code 1 where a promise breaks that must hold, or no hole is found."""

import sys

from harness.model.search.exploration import SearchResult
from suites.model.scopes import SCOPES, ModelScope


def main() -> int:
    """Explore, and tell states, depth and seconds of each scope, and the shortest way to what breaks."""
    wrong = [scope.name for scope in SCOPES if not _as_expected(scope, _explored(scope))]
    for name in wrong:
        sys.stdout.write(f"not as it must be: {name}\n")
    return bool(wrong)


def _explored(scope: ModelScope) -> SearchResult:
    result = scope.explored()
    nearest = "until the first broken promise" if result.broken else "the nearest of them: more than were searched"
    how = "whole" if result.whole else nearest
    sys.stdout.write(
        f"{scope.name}\n  {result.states:,} states, {result.depth} events deep, {result.seconds:.1f} s, {how}\n"
    )
    if result.broken:
        sys.stdout.write(f"  {result.broken}\n" + "".join(f"    {event}\n" for event in result.events))
    sys.stdout.flush()
    return result


def _as_expected(scope: ModelScope, result: SearchResult) -> bool:
    if scope.breaks is None:
        return result.whole and result.broken is None
    return result.broken is not None and result.broken.startswith(scope.breaks)


if __name__ == "__main__":
    sys.exit(main())
