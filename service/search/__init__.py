"""POST and GET /search: the few memories that matter, by words, meaning and shared concepts."""
