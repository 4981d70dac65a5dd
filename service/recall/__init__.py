"""POST and GET /graph-recall: follow the threads from the best hits, and tell the path."""
