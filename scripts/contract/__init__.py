"""What asking everything that the description allows needs."""
