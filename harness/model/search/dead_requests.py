"""Requests that can do nothing any more, so that a search need not ask when they come."""

from typing import TypeAlias

from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    EndTxnAsked,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import ModelCluster
from harness.model.protocol_profile import ProtocolProfile

_InTransaction: TypeAlias = AddPartitionsAsked | AddOffsetsAsked | EndTxnAsked | ProduceAsked | TxnOffsetCommitAsked


def is_dead(request: ModelRequest, cluster: ModelCluster, profile: ProtocolProfile) -> bool:
    """Whether it changes nothing when it arrives, now and at any later time: epochs never go back."""
    if isinstance(request, ProduceAsked):
        at_once = profile.refuses_old_epochs_first or not profile.verifies  # else a verification begins
        return at_once and _is_over_at_leader(request, cluster)
    return isinstance(request, AddPartitionsAsked | AddOffsetsAsked | EndTxnAsked) and _is_over(request, cluster)


def will_be_refused(request: ModelRequest, cluster: ModelCluster, *, confirmed: bool) -> bool:
    """Whether a write whose leader has asked the coordinator changes nothing any more.

    :param confirmed: Whether it was told yes; then the leader's own epoch decides. A refused offset may still change
        what its group has pending.
    """
    if not confirmed:
        return isinstance(request, ProduceAsked | TxnOffsetCommitAsked) and _is_over(request, cluster)
    return isinstance(request, ProduceAsked) and _is_over_at_leader(request, cluster)


def _is_over_at_leader(request: ProduceAsked, cluster: ModelCluster) -> bool:
    """Whether its leader knows a newer epoch of the producer id."""
    return request.epoch < cluster.log(request.partition).known(request.producer_id).epoch


def _is_over(request: _InTransaction, cluster: ModelCluster) -> bool:
    """Whether its coordinator knows a newer epoch of the producer id."""
    known = cluster.ids.get(request.id)
    return known is not None and known.producer_id == request.producer_id and request.epoch < known.epoch
