"""Full disk: a broker can write to no file any more, so that its log directory fails and it ends by itself.

Kafka takes a log directory out of service at the first write that fails (KIP-112), and a broker that has no other one
ends without any good order: leaderships are not handed over, and the last batch may be half in the file. It is started
again with its data and room to write. Needs the power to let writes fail, which brokers of ours have. Counts brokers
that ended by themselves.
"""

from harness.faults.brokers.broker_restart import BrokerRestart, fill_disk
from harness.faults.toxic import ToxicReach

TOXIC = BrokerRestart(
    name="full-disk", down_ms=(0, 1_500), take_down=fill_disk, gradual=True, acts_on=(ToxicReach.DISKS,)
)
