"""The requirements as a whole: found, selected, and those that a target is known to break."""
