"""Compatibility of clients and brokers: which protocol, which versions, and that nothing is lost between them."""
