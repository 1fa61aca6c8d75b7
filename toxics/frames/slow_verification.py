"""Slow verification: brokers wait for the coordinator's answer whether a partition is in a transaction (KIP-890).

Each AddPartitionsToTxn from broker to broker (v4 and above) waits at the gate for a drawn time; those behind it wait
too. With Transactions V2 the same request also adds the partition. Needs a proxy on the links between brokers, and a
release that verifies. Counts AddPartitionsToTxn requests held.
"""

from harness.faults.frame_faults import delayed_requests

BETWEEN_BROKERS = (4, 32_767)

TOXIC = delayed_requests("slow-verification", "AddPartitionsToTxn", versions=BETWEEN_BROKERS)
