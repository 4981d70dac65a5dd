"""The text of a summary: passages, their density and novelty; pure."""
