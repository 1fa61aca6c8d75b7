"""Raw requests on kio: any API at any version that a broker offers, records and control batches, transaction verbs."""
