"""The contract's failpoints before chaos, which is told nothing of them: which of them a short session finds."""
