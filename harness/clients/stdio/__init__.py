"""Clients in any language: a program that is driven by lines of JSON over standard input and output (PROTOCOL.md)."""
