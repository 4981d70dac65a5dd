"""Clients of the embedding and the rerank server, and the gate that vectors pass."""
