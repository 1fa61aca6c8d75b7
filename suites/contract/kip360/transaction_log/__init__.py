"""What the coordinator's log tells of the last identity."""
