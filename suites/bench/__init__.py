"""What Fencepost costs, measured as ratios in one run; never part of ``make test``."""
