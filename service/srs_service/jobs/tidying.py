"""What is done now and then: sweep what kills left, delete what is kept for some days only."""

from __future__ import annotations

import logging

from srs_service.data.layout import OLD_SECONDS, DataFolder
from srs_service.database import JobStore
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

AT_ONCE = 1_000  # things that are deleted in one transaction
DAY = 86_400.0


def tidy(settings: Settings, store: JobStore, folder: DataFolder) -> None:
    """One round; every runner may do it at any time."""
    store.jobs.forget_keys(settings.idempotency_days)
    store.audit.forget(settings.audit_days)
    drop_old(settings, store, folder)
    folder.sweep(store.known_ids)
    held = folder.held()["uploads"]
    store.space.drop_reservations(OLD_SECONDS / DAY, held)
    for job_id in store.space.unmeasured(AT_ONCE):
        store.space.note_job(job_id, folder.size_of_job(job_id))


def drop_old(settings: Settings, store: JobStore, folder: DataFolder) -> None:
    """Delete jobs and uploads that are older than the settings say."""
    n_dropped = 0
    if settings.keep_jobs_days is not None:
        while ids := store.space.drop_old_jobs(settings.keep_jobs_days, AT_ONCE):
            for job_id in ids:
                folder.remove_job(job_id)
            n_dropped += len(ids)
    if settings.keep_uploads_days is not None:
        while ids := store.space.drop_old_uploads(settings.keep_uploads_days, AT_ONCE):
            for upload_id in ids:
                folder.remove_upload(upload_id)
            n_dropped += len(ids)
    if n_dropped:
        log.info("old jobs and uploads deleted", extra={"n_deleted": n_dropped})
