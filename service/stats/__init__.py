"""GET /stats: how much an agent remembers."""
