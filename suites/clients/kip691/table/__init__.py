"""KIP-691: its table of errors, as the Java client handles them."""
