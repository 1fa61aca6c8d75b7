"""Wire clients that pipeline: many transactional ids in one thread, with batches and requests in flight."""
