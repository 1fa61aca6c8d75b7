"""Power over brokers: to take one away, and to have another one lead."""
