"""GET /documents: the text of a source, by line range."""
