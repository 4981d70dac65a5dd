"""SurrealDB: the driver, named queries, and what every room reads of the store."""
