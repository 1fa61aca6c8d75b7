"""Clients behind one port of nine verbs, named as in Kafka: adapters, their error tables, the recorder. For chaos."""
