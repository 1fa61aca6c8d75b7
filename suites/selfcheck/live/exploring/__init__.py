"""Selfcheck: the model of the protocol beside real servers."""
