"""Times in questions: words for moments and periods, in several languages; pure."""
