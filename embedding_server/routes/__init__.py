"""One file for each URL, by the first word after /v1."""
