"""The end of a session: what of its passing notes is worth keeping is kept, the rest is cleared."""
