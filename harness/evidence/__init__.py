"""What happened in a run, as typed values that are saved and judged again; imports nothing of ours but base."""
