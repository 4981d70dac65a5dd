"""Ingest: markdown comes in, is cut into sections and stored as memories."""
