"""What a stimulus may do beside its producers and faults, a module each; reached by properties of the lab."""
