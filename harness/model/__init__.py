"""Kafka's transaction protocol as an executable model: pure Python, no I/O.

A :class:`~harness.model.model_state.ModelCluster` is what coordinators and leaders know;
:func:`~harness.model.protocol_step.outcomes` says what a request may answer in it, and what it leaves behind. Releases
differ in :class:`~harness.model.protocol_profile.ProtocolProfile`, which is data. Everything here rests on the KIPs and
on the classes of Kafka that the rules name; nothing was written down because a broker was seen to do it.

Imports nothing else of ours.
"""
