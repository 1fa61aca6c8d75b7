"""A situation that a requirement or a fault needs could not be brought about."""


class Unprepared(Exception):
    """The text says which step failed. A requirement's verdict is then NOT_EXERCISED, and a fault has not struck."""
