"""The checks, one file each and one line in ``all_checks``: what must be true of every history. For the judge alone."""
