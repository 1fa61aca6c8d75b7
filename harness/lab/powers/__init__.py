"""Powers of a lab beyond requests and held links, one module each."""
