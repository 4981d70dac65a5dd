"""A client of the HTTP contract."""
