"""The parts of a memory's score in the default fusion: a file for each signal, and their list."""
