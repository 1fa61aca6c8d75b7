"""The gate: a relay that understands Kafka's framing, in a process of its own, and does to single requests as told.

A Toxiproxy proxy is led to the gate, and the gate leads on to where the proxy led before; so client lanes and links
between brokers are treated alike. What it does stands in declarative rules (:mod:`harness.faults.gate.rule`).
"""
