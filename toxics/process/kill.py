"""Kill: a broker ends as by ``kill -9`` and is started again, with the same data, after a while.

Needs the power to kill. Counts a broker that no longer answered the observer.
"""

from harness.faults.brokers.broker_restart import BrokerRestart, kill

TOXIC = BrokerRestart(name="kill", down_ms=(0, 4_000), take_down=kill)
