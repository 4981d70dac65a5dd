"""Work that outlives a request: stored before it begins, done even if the process dies."""
