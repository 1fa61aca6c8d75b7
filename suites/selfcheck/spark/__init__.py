"""Selfcheck: sessions, readers, sealed histories."""
