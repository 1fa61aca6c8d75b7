"""KIP-691: what becomes of records that are tried again, given up or never sent."""
