"""Spark as reader: the session, the connector's jars, read_committed streaming queries."""
