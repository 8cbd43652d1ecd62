"""The names that sources of verdicts have on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from opencompass_gpassk.audit.judges import Opinions, ask_now, look_up
from opencompass_gpassk.audit.sources import Labels, Source, read_labels, recorded, rule
from opencompass_gpassk.audit.trials import AuditTrial
from opencompass_gpassk.judging.prompted import make_judge
from opencompass_gpassk.judging.settings import read_settings
from opencompass_gpassk.judging.store import VerdictStore

__all__ = ['is_asked', 'named_source', 'needs_store']

Report = Callable[[str], None]


def is_asked(name: str) -> bool:
    """Tell whether a name means a judge that is asked now."""
    return name.partition(':')[0] == 'judge'


def needs_store(name: str) -> bool:
    """Tell whether a name means verdicts that are in a store, or go into it."""
    return is_asked(name) or name == 'human' or name.startswith('store:')


def named_source(
    name: str, store: Path, drawn: Sequence[AuditTrial], every: Sequence[AuditTrial], report: Report
) -> Source:
    """Return the source that a name means.

    Args:
        name: ``recorded``, ``rule``, ``judge``, ``judge:FILE`` (settings), ``store:MODEL``,
            ``human`` or a file of labels.
        store: The verdict store.
        drawn: The trials that it will be asked about: a judge is asked at once.
        every: The trials that they were drawn from.
        report: Is told what a user has to know.

    Raises:
        ValueError: If the name means nothing, or what it means can't be read.
        JudgeError: If the judge, or the store, can't be asked at all.
    """
    kind, _, rest = name.partition(':')
    if name == 'recorded':
        return recorded
    if name == 'rule':
        return rule
    if is_asked(name):
        return _ask(rest, store, drawn, report)
    if name == 'human' or (kind == 'store' and rest):
        return _look_up(rest or None, store, drawn, report)
    if name != '-' and not Path(name).is_file():
        raise ValueError(
            f'{name}: there is no such file of labels; a source of verdicts is recorded, rule, '
            'judge, judge:FILE, store:MODEL, human or a file'
        )
    return _labels(name, drawn, every, report)


def _ask(named: str, store: Path, drawn: Sequence[AuditTrial], report: Report) -> Opinions:
    settings = read_settings(named or 'llm')
    if settings.candidate != 'answer':
        raise ValueError(
            f"{named}: candidate is {settings.candidate!r}, but a run's trials hold the final "
            "answers alone; leave it at 'answer'"
        )
    if silent := {one.data_set for one in drawn if not one.problem.question}:
        raise ValueError(
            f'{", ".join(sorted(silent))}: the trials do not hold their questions, which a judge '
            'must see; audit other data sets with --dataset'
        )
    judge = make_judge(settings)
    with VerdictStore(store, report=report) as kept:
        opinions, ledger = ask_now(judge, settings, kept, drawn, progress=True)
    failures = ''.join(f', {kind} {count}' for kind, count in ledger.failures.most_common())
    report(f'judge: {ledger.calls} calls{failures}; verdicts are kept in {store}')
    return opinions


def _look_up(
    judge: str | None, store: Path, drawn: Sequence[AuditTrial], report: Report
) -> Opinions:
    if not store.exists():
        raise ValueError(f'{store}: there is no verdict store; name it with --store')
    with VerdictStore(store, read_only=True) as kept:
        return look_up(kept, judge, drawn, report)


def _labels(
    path: str, drawn: Sequence[AuditTrial], every: Sequence[AuditTrial], report: Report
) -> Labels:
    labels = read_labels(path)
    if unused := labels.unused(drawn):
        report(
            f'{path}: {unused} labels are about no answer of the sample, {labels.unused(every)} of '
            'them about none of the run; --trials and --seed must be those of the draw, or '
            '--trials large enough for all'
        )
    return labels
