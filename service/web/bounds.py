"""All bounds of one service on what callers may ask of it, and the layers that keep them."""

from dataclasses import dataclass

from fastapi import FastAPI

from service.access.quota import Quota
from service.access.rates import Rates
from service.settings import Settings
from service.web.auditing import Auditing
from service.web.authentication import Authentication
from service.web.body_room import Bodies, BodyRoom
from service.web.connections import Connections
from service.web.door import Door
from service.web.gate import Gate, Lanes
from service.web.layers import CountRequests, RequestNames, Requests


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is bounded, with its counts; `/metrics` tells them."""

    lanes: Lanes
    bodies: BodyRoom
    connections: Connections
    requests: Requests
    rates: Rates

    @classmethod
    def of(cls, settings: Settings) -> "Bounds":
        """Return the bounds that the settings name."""
        room = BodyRoom(settings.bodies_memory_mb * 1_000_000, settings.max_request_bytes)
        whole = Quota(rate=settings.rate, byte_rate=settings.byte_rate)
        return cls(Lanes(settings), room, Connections(settings), Requests(), Rates(whole))

    def install(self, app: FastAPI, settings: Settings) -> None:
        """Put the layers round an app. The last one is the outermost.

        No body is read of whom no key is known. A body is read before its request waits for a
        turn, so that slow clients hold none.
        """
        app.add_middleware(Gate, lanes=self.lanes)
        app.add_middleware(Bodies, settings=settings, room=self.bodies, rates=self.rates)
        app.add_middleware(Authentication, rates=self.rates)
        app.add_middleware(Door, settings=settings)
        app.add_middleware(RequestNames)
        app.add_middleware(CountRequests, requests=self.requests)
        # Outside of all that refuses: denials are told as well.
        app.add_middleware(Auditing)
