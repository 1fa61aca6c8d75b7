"""Clients behind one port of nine verbs, in Kafka's words: their adapters, their error tables, the one recorder."""
