"""What reports about clients show beside those about brokers: what a client said and sent, and clients side by side."""
