"""A situation that a requirement or a fault needs could not be brought about."""


class Unprepared(Exception):
    """The text names the failed step. A requirement's verdict is then NOT_EXERCISED, and a fault did not strike."""


class OutOfReach(Unprepared):
    """This target gives no power over what is needed (its links, its settings, a second broker), or it is not allowed.

    On a cluster that is not ours the verdict is OUT_OF_REACH, which does not fail; on one of ours it is NOT_EXERCISED.
    """
