"""Transcripts: what agents' programs write down of a session, read into one shape; pure."""
