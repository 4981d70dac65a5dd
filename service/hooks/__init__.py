"""POST /hooks/…: what agents call at the turns of their sessions."""
