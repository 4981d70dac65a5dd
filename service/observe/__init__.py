"""The observer: what is worth keeping of a transcript, taken out by rules, without a model."""
