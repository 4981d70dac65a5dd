"""The sessions that each key holds, and which of them end for a new one."""

from collections import OrderedDict, defaultdict


class HeldSessions:
    """Keeps, for each key, the sessions that it used last; past `most` the longest unused ends.

    A client that begins one session after another takes no room from others, nor shuts itself out.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: defaultdict[str, OrderedDict[str, None]] = defaultdict(OrderedDict)

    def use(self, key: str, session: str) -> None:
        """Note that a session is used, of the key that began it."""
        if session in self._of[key]:
            self._of[key].move_to_end(session)

    def begin(self, key: str, session: str) -> list[str]:
        """Note a session that began; returns those that have to end for it."""
        held = self._of[key]
        held[session] = None
        return [held.popitem(last=False)[0] for _ in range(len(held) - self._most)]

    def end(self, key: str, session: str) -> None:
        """Forget a session that is no more."""
        self._of[key].pop(session, None)
        if not self._of[key]:
            del self._of[key]
