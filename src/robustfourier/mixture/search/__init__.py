"""The search for lines: what is proposed, where it is placed, and what the judge lets pass."""
