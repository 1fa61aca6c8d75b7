"""Raw requests on kio: any API at any version that a broker offers, record batches, control batches among them."""
