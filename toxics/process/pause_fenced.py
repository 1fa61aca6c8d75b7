"""Pause until fenced: a broker is stopped (SIGSTOP) for so long that the controller fences it, and goes on.

It takes up where it stopped: it answers what waited in its sockets as the leader and coordinator that it no longer is.
The session is 2 s (``broker.session.timeout.ms``), and the controller looks for stale sessions at each heartbeat of
another broker. Needs the power to pause. Counts a request that stayed unanswered until a broker went on that
another one no longer listed.
"""

from toxics.process.pause import BrokerPause

TOXIC = BrokerPause(name="pause-fenced", lengths_ms=((4_000, 6_000),), seconds=6.0, fenced=True)
