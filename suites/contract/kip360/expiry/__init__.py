"""InitProducerId after the coordinator has forgotten a transactional id."""
