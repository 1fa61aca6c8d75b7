"""A session of chaos beside an earlier one: how long rounds took to recover and to settle."""
