"""A situation that a requirement or a fault needs could not be brought about."""


class Unprepared(Exception):
    """The text names the failed step. A requirement's verdict is then NOT_EXERCISED, and a fault did not strike."""
