"""Clusters of every shape, and servers that are no Kafka, judged as external targets: makes ``reports/TARGETS.md``.

``make targets`` runs all of it, some twenty minutes; ``make targets ARGS=kfake`` one target, without the page.
"""
