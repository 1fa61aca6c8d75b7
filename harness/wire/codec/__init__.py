"""kio's schemas applied: entities from and to bytes, plain values and JSON. Used inside wire only."""
