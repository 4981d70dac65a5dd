"""Decisions: what was decided, append-only; a later one says which it takes the place of."""
