"""The endpoints for admins: keys, grants, the audit and trust."""

from typing import Unpack

from service.client import access
from service.client.endpoint import Endpoint
from service.client.options import AuditOptions, KeyOptions, Moment, TrustOptions
from service.client.sending import Request, part


class AdminEndpoints:
    """What an admin asks; each needs a key that is good for `admin`, where keys are."""

    @Endpoint
    def list_keys(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Request[access.KeyPage]:
        """List the keys, the newest first, revoked ones too."""
        return Request("GET", "/keys", params={"limit": limit, "cursor": cursor})

    @Endpoint
    def create_key(self, name: str, **choices: Unpack[KeyOptions]) -> Request[access.NewKey]:
        """Make a key, by default for all agents, to read and write; it is shown this once."""
        return Request("POST", "/keys", {"name": name, **choices})

    @Endpoint
    def rotate_key(self, id: str) -> Request[access.NewKey]:  # noqa: A002
        """Give a key another secret; the old one ends at once."""
        return Request("POST", f"/keys/{part(id)}/rotate")

    @Endpoint
    def revoke_key(self, id: str) -> Request[None]:  # noqa: A002
        """End a key at once and for good."""
        return Request("DELETE", f"/keys/{part(id)}")

    @Endpoint
    def list_grants(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Request[access.GrantPage]:
        """List who may read whose memories."""
        return Request("GET", "/grants", params={"limit": limit, "cursor": cursor})

    @Endpoint
    def give_grant(
        self, reader: str, owner: str, *, scope: str | None = None, expires_at: Moment | None = None
    ) -> Request[access.Grant]:
        """Let an agent read another's memories, never write them."""
        body = {"reader": reader, "owner": owner, "scope": scope, "expires_at": expires_at}
        return Request("POST", "/grants", body)

    @Endpoint
    def revoke_grant(self, id: str) -> Request[None]:  # noqa: A002
        """Take a grant back, at once."""
        return Request("DELETE", f"/grants/{part(id)}")

    @Endpoint
    def list_audit(self, **choices: Unpack[AuditOptions]) -> Request[access.AuditPage]:
        """List who did what, when and from where, the newest first; without contents."""
        return Request("GET", "/audit", params={**choices})

    @Endpoint
    def quarantine(self, **choices: Unpack[TrustOptions]) -> Request[access.TrustChanged]:
        """Put all that came in one way into quarantine; with `dry_run` only say what that is."""
        return Request("POST", "/trust/quarantine", {**choices}, is_long=True)

    @Endpoint
    def release(self, **choices: Unpack[TrustOptions]) -> Request[access.TrustChanged]:
        """Take what came in one way out of quarantine; with `dry_run` only say what that is."""
        return Request("POST", "/trust/release", {**choices}, is_long=True)
