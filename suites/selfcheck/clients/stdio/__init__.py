"""Adapters in any language: what the protocol says, and programs that do not keep to it."""
