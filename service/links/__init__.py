"""What a change of memories means to concepts, edges and lines of time; reads the store."""
