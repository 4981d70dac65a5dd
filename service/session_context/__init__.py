"""Session context: what a session should know when it starts, in one answer."""
