"""What happens to a ranking once its memories are fetched."""
