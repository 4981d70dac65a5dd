"""Working memory: what is in focus now, in one text of an agent, a project or a session."""
