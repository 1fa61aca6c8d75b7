"""KIP-691: beside its table of errors; how they are thrown, and what an end makes of them."""
