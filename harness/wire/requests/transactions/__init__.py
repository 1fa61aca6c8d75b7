"""Requests of the transaction protocol and of KIP-664's tools, one file an API."""
