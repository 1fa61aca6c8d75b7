"""Who leads what as all brokers know it, and another replica put in the lead."""
