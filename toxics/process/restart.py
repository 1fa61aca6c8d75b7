"""Restart: a broker is stopped in good order, so that it hands its leaderships over, and started again.

Needs the powers to stop and to kill (which includes to start again). Counts a broker that no longer answered the
observer.
"""

from harness.faults.brokers.broker_restart import BrokerRestart, stop

TOXIC = BrokerRestart(name="restart", down_ms=(0, 1_500), take_down=stop, gradual=True)
