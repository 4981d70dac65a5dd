"""One module for each way to make a vector, and the one that chooses among them."""
