"""Handoffs: what one session leaves to the next."""
