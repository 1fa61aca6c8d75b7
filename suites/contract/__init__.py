"""The contract: one requirement a file, named by what it says."""
