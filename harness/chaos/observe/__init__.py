"""What is read for the judge: watermarks beside the workload, probes, settling and the drain after it."""
