"""Text, before anything is known of it: words, blocks, markdown, sentences; pure."""
