"""Lost request: it never reaches the broker, so nothing was applied, and its sender cannot know.

The connection ends in its place, or stays open without an answer. Needs a proxy on clients' lanes. Counts requests
dropped.
"""

from harness.faults.frame_faults import lost_messages

TOXIC = lost_messages("lost-request", "drop-request", how="requests dropped")
