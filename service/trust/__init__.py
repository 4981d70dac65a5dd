"""How far memories are trusted: quarantine and release by where they come from, and lineage."""
