"""Feature levels moved, and nodes started with other releases, as an upgrade does it."""
