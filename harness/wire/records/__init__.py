"""Record batches and the records in them: data, control markers, transaction state, consumer protocol."""
