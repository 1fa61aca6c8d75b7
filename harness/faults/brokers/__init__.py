"""Brokers that are taken down, led otherwise, or started with another release."""
