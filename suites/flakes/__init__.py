"""The same target judged many times, on a machine under other load: no verdict may differ from run to run."""
