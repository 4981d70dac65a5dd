"""The model that is served: its threads, its batches, its state."""
