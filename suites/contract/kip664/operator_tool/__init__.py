"""The tool ``kafka-transactions.sh`` (KIP-664, "Command Line Tool")."""
