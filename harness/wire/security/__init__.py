"""TLS and SASL as operators give them, without I/O: settings, TLS over buffers, SASL as frames out and frames in."""
