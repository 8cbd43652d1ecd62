"""Which prompt is asked next."""

from __future__ import annotations

from opencompass_gpassk.judging.dispatch import FIRST_BACKOFF, LONGEST_BACKOFF, JobQueue


def test_jobs_that_failed_come_before_new_ones_once_they_are_due() -> None:
    """In the order in which they are due."""
    queue = JobQueue([(n, '') for n in range(4)], most_waiting=9)
    first, second = queue.take(0.0), queue.take(0.0)
    assert first and second
    queue.put_back(first, 5.0)
    queue.put_back(second, 3.0)
    assert queue.due_at == 3.0
    taken = [queue.take(now) for now in (0.0, 6.0, 6.0, 6.0, 6.0)]
    assert [job and job.key for job in taken] == [2, 1, 0, 3, None]


def test_no_new_job_is_taken_while_many_wait() -> None:
    """Or an outage would draw all jobs there are."""
    queue = JobQueue([(n, '') for n in range(9)], most_waiting=2)
    for _ in range(2):
        job = queue.take(0.0)
        assert job
        queue.put_back(job, 1.0)
    assert queue.take(0.0) is None
    assert len(list(queue.drain())) == 9


def test_the_wait_grows_with_the_failures() -> None:
    """Twice as long on average after each, up to the longest."""
    waits = []
    for failures in (0, 1, 2, 3, 30):
        queue = JobQueue([(n, '') for n in range(2000)], most_waiting=9999)
        while job := queue.take(-1.0):
            job.failures = failures
            queue.put_off(job, 0.0)
        due = []
        while queue.due_at is not None:
            due.append(queue.due_at)
            queue.take(queue.due_at)
        waits.append((sum(due) / len(due), max(due)))
    for (mean, most), longest in zip(
        waits, [FIRST_BACKOFF * n for n in (1, 1, 2, 4)] + [LONGEST_BACKOFF], strict=True
    ):
        assert 0.45 * longest < mean < 0.55 * longest
        assert 0.9 * longest < most <= longest
