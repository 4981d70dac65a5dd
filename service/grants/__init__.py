"""Grants: which agent may read whose memories."""
