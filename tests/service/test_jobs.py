"""Statuses and their legal changes; a promise of the diagram in service/jobs.py."""

from srs_service.job import ENDED, HELD, TRANSITIONS, JobStatus, new_id, sources_of


def test_every_status_has_its_transitions():
    assert set(TRANSITIONS) == set(JobStatus)
    assert ENDED | HELD | {JobStatus.QUEUED} == set(JobStatus)


def test_success_is_final():
    assert not TRANSITIONS[JobStatus.SUCCEEDED]


def test_only_ended_jobs_are_resumed_and_running_ones_given_back():
    assert set(sources_of(JobStatus.QUEUED)) == {
        JobStatus.RUNNING,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
    }


def test_a_job_ends_only_from_where_it_runs():
    for status in (JobStatus.SUCCEEDED, JobStatus.FAILED):
        assert set(sources_of(status)) == HELD


def test_ids_differ():
    assert len({new_id("j") for _ in range(1000)}) == 1000
