"""Sessions: what each conversation was given, so that nothing is said twice and blame has a way."""
