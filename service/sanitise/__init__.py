"""A second line: secrets masked, and instructions to agents noticed, before a text is stored."""
