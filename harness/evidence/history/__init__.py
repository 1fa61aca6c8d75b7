"""A round of chaos as tables and what is made of them: operations, faults, logs, judgement, timeline."""
