"""What may wait for the model, and which texts go through it next; pure."""
