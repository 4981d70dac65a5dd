"""Context of a conversation that grows too long: what is recent, an extract, memories."""
