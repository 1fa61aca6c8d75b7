"""What is asked of brokers after the faults are healed: that nothing hangs, and that they serve and tell the truth."""
