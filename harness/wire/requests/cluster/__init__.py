"""Requests of an administrator: metadata, topics, settings, features, leaders."""
