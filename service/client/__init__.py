"""A typed Python client of the HTTP contract, sync and async; it imports httpx and errors alone."""
