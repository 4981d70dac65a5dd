"""Memories on their way in, complete but for links and vectors; pure."""
