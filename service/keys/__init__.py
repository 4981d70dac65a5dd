"""Keys: the door where an admin makes, lists, rotates and revokes them."""
