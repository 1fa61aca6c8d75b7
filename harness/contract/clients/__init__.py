"""What a check of a client's promise is written with: what the client said, what it sent, and what became of both."""
