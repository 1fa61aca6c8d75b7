"""A look that asked a broker which does not lead or coordinate any more, or not yet."""

from harness.base.kafka_error import error_name
from harness.base.unprepared import Unprepared
from harness.kafka.retriable import STALE_ROUTE


class StaleRoute(Unprepared):
    """Whom to ask is looked up again, and then the whole look is taken again."""


def require_sound(api: str, error: int) -> None:
    """Nothing but an answer without error shows anything.

    :raises StaleRoute: When another broker is to be asked. :raises Unprepared: After any other error.
    """
    if error:
        raise (StaleRoute if error in STALE_ROUTE else Unprepared)(f"{api} was answered with {error_name(error)}")
