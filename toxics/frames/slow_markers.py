"""Slow markers: a transaction has ended for its coordinator, and not yet for its partitions (WriteTxnMarkers).

Each WriteTxnMarkers from broker to broker waits at the gate for a drawn time; those behind it wait too. Needs a proxy
on the links between brokers. Counts WriteTxnMarkers requests held.
"""

from harness.faults.frame_faults import delayed_requests

TOXIC = delayed_requests("slow-markers", "WriteTxnMarkers", by_id=False)
