"""The doors of those who run the service: health, index, stats."""
