"""GET /concepts: what the memories talk about."""
