"""Scans of a store that was opened without HTTP."""

from service.ingest.jobs import SCAN, Scans, scanning
from service.ingest.sources import Sources
from service.jobs.jobs import JobRunner
from service.settings import Settings
from service.store.keyring import Keyring
from service.writing.pipeline import Pipeline


def scans_of(pipeline: Pipeline, settings: Settings) -> Scans:
    """Return where scans are asked for; its runner is not running yet."""
    work = {SCAN: scanning(pipeline, settings, Sources(settings.sources))}
    return Scans(JobRunner(pipeline.db, Keyring(pipeline.db), work), settings)
