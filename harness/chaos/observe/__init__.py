"""What chaos reads for the judge: watermarks beside the workload; probes, settling and the drain after it."""
