"""What ranks: the seam between a search and the engines that answer it."""
