"""The situations that a session's rounds have shown, as a table."""
