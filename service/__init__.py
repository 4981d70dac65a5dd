"""The memory service: ingest, search and recall over HTTP."""
