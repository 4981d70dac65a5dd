"""One question asked of tier after tier: the conversation, what is in focus, recent days, all."""
