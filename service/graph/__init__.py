"""GET /graph/report: whether the graph is worth it on this corpus."""
