"""A look back over what came up, and the hot memory: what an agent keeps near at hand."""
