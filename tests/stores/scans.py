"""Scans of a store that was opened without HTTP."""

from service.ingest.jobs import SCAN, Scans, scanning
from service.jobs.jobs import JobRunner
from service.settings import Settings
from service.store.keyring import Keyring
from service.writing.pipeline import Pipeline


def scans_of(pipeline: Pipeline, settings: Settings) -> Scans:
    """Return where scans are asked for; its runner is not running yet."""
    keyring, work = Keyring(pipeline.db), {SCAN: scanning(pipeline, settings)}
    return Scans(JobRunner(pipeline.db, keyring, work), settings)
