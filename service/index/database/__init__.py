"""The engine over SurrealDB's own indexes."""
