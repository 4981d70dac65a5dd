"""What stands between HTTP and the model: shapes, keys, limits, errors, the log."""
