"""Readers: processes of their own that rank beside the service, over copies of its indexes."""
