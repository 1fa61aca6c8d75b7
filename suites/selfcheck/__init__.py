"""Fencepost tried on itself; needs no broker, no Docker and no network, save where a file's name says so."""
