"""The switch of verification, and how long a broker tries again to add (KIP-890, "Configurations")."""
