"""Who asks, and what they may: keys, rights, and the wall between agents; pure."""
