"""What happened in a run, as typed values that can be saved and judged again: exchanges, steps, faults, logs."""
