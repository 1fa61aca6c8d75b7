"""The ways in: the command line, its options, the pytest plugins and items, replay. Nothing imports it."""
