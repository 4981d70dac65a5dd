"""Projects: what a client knows of where it works, and the scope of memories that this means."""
