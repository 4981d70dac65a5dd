"""Verified fixes: what was done about an error, and proof that the same command passed."""
