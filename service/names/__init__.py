"""Names in texts and what they stand for: identifiers, concepts, abbreviations; pure."""
