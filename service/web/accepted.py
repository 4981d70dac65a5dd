"""202: what is answered when a job will do it."""

from dataclasses import dataclass

from starlette.responses import Response


@dataclass(frozen=True, slots=True)
class JobAccepted:
    """The job that will do it."""

    job: str


def accepted(job: str, door: str = "/ingest") -> Response:
    """Answer 202 with the job that will do it; it is looked at below that door."""
    return Response(
        f'{{"job":"{job}"}}', 202, {"Location": f"{door}/jobs/{job}"}, "application/json"
    )
