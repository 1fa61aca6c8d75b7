"""A record of ``__transaction_state`` in the model's words."""

from harness.explore.cell_identities import CellIdentities
from harness.model.coordinator_log import CoordinatorRecord
from harness.model.model_state import NONE
from harness.wire.records.transaction_state import TransactionState


def seen_record(read: TransactionState, name: str, who: CellIdentities) -> CoordinatorRecord:
    """Of the id that the cell calls ``name``; once its coordinator was looked at, so that its producer ids are known.

    A tombstone has the layout -1 and the state ``Gone``.
    """
    return CoordinatorRecord(
        layout=read.version,
        state=read.state,
        producer_id=who.given(read.producer_id, name),
        epoch=read.producer_epoch,
        timeout_ms=NONE if read.timeout_ms == who.timeout_ms else read.timeout_ms,
        partitions=who.named(read.partitions),
        previous_id=who.given(read.previous_producer_id, name),
        next_id=who.given(read.next_producer_id, name),
        client_version=read.client_transaction_version,
    )
