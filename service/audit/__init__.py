"""The audit as it is read: who did what, when and from where."""
