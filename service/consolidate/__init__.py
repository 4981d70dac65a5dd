"""/consolidate: old logs become a few dense summaries; the logs stay, archived."""
