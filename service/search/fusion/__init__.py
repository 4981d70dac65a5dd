"""From signals to one ranking: rank fusion, scores, confidence."""
