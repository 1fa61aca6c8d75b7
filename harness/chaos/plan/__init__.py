"""What a round will be, fixed by its seed before anything starts: scenario, schedule, options, folder. Pure."""
