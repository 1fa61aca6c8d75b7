"""Powers of a lab, one a module: what only some targets give, or only some requirements need."""
