"""Standing intents: "when this comes up, say that"; words and dates, no model."""
