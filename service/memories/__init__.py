"""/memories: store, read, list, change and delete single memories."""
