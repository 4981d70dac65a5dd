"""OpenAI-compatible embeddings over HTTP: texts in, unit-length vectors out."""
