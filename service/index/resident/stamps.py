"""Stamps: where in what is written a snapshot was taken."""


class StampRefused(Exception):
    """What was written since a stamp is not known any more; the text says why."""

    @property
    def logged(self) -> str:
        """The text: it names facts of the store, nobody's words."""
        return str(self)
