"""Registers Fencepost's plugin; the catalogue is found by the plugin under ``suites/contract``."""

pytest_plugins = ["harness.app.plugin", "pytester"]
