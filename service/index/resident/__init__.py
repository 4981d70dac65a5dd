"""The engine over a read model in RAM that follows the change feed."""
