"""The gate: a proxy, in a process of its own, that understands Kafka's frames and acts on single requests by rules.

A Toxiproxy proxy is redirected to the gate, and the gate forwards to where the proxy led before; so client lanes and
links between brokers are treated alike. Rules are values of :mod:`harness.faults.frame_rule`. Chaos and tests open it;
everybody else knows it by its port, :mod:`harness.faults.frame_gate`.
"""
