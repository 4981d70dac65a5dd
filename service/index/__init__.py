"""The resident index: what one service holds in RAM of the store, and how it stays true."""
