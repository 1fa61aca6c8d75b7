"""Lost response: the broker applied a request, and its sender cannot know (KIP-98, idempotence of retries).

The connection ends in place of the response, or stays open without it. Needs a proxy on clients' lanes. Counts
responses dropped.
"""

from harness.faults.frame_faults import lost_messages

TOXIC = lost_messages("lost-response", "drop-response", how="responses dropped")
