"""InitProducerId when the producer id has no epoch left."""
