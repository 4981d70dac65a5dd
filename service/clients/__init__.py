"""GET /clients: the programs whose sessions are remembered, and whether they still call."""
