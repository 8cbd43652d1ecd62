"""Sources of verdicts that an audit compares: what was recorded, rules, judges, people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from opencompass_gpassk.audit.trials import AuditTrial
from opencompass_gpassk.jsonlines import parse_row, read_lines
from opencompass_gpassk.judging.judge import Triple
from opencompass_gpassk.judging.rules import judge_answers
from opencompass_gpassk.judging.storage.labels import read_label
from opencompass_gpassk.trials import Verdict

__all__ = ['Labels', 'Opinion', 'Source', 'read_labels', 'recorded', 'rule']

NOT_LABELLED = 'not labelled'


class Opinion(NamedTuple):
    """What a source says of a trial.

    Attributes:
        verdict: Right, wrong or not judged.
        reason: Why it is unjudged.
        reply: A judge's own words, '' where there are none.
    """

    verdict: Verdict
    reason: str = ''
    reply: str = ''


Source = Callable[[Sequence[AuditTrial]], list[Opinion]]


def recorded(trials: Sequence[AuditTrial]) -> list[Opinion]:
    """Return what was said of the trials when they were scored."""
    return [Opinion(one.trial.verdict, one.trial.reason) for one in trials]


def rule(trials: Sequence[AuditTrial]) -> list[Opinion]:
    """Return what the rules say of the trials' answers now."""
    triples = [one.triple for one in trials]
    judgements = judge_answers([t.gold for t in triples], [t.answer for t in triples])
    return [Opinion(judgement.verdict, judgement.reason) for judgement in judgements]


class Labels:
    """People's labels, as a source of verdicts.

    A label that states question, gold and answer is about these, wherever they occur; one that
    doesn't is about the trial it names.

    Args:
        by_triple: Verdicts by what they are about.
        by_identity: Verdicts by model, data set, problem and replica.
    """

    def __init__(
        self,
        by_triple: Mapping[Triple, Verdict],
        by_identity: Mapping[tuple[str, str, str, int], Verdict],
    ) -> None:
        self.by_triple = by_triple
        self.by_identity = by_identity

    def __call__(self, trials: Sequence[AuditTrial]) -> list[Opinion]:
        """Return the labels of trials; those without one are unjudged."""
        found = [
            self.by_triple.get(one.triple) or self.by_identity.get(one.identity) for one in trials
        ]
        return [Opinion(one) if one else Opinion(Verdict.UNJUDGED, NOT_LABELLED) for one in found]

    def unused(self, trials: Iterable[AuditTrial]) -> int:
        """Return how many labels are about none of the trials."""
        every = list(trials)
        triples, identities = {one.triple for one in every}, {one.identity for one in every}
        return len(self.by_triple.keys() - triples) + len(self.by_identity.keys() - identities)


def read_labels(path: str) -> Labels:
    """Read a file of people's labels: JSON lines, gzipped or not, or ``-``.

    Each row has a label (:func:`~opencompass_gpassk.judging.storage.labels.read_label`); and
    ``question``, ``gold`` and ``answer``, or ``model``, ``data_set``, ``problem_id`` and
    ``replica``. Rows whose label is empty are passed over.

    Raises:
        ValueError: If a row can't be read, contradicts another, or none is filled in; with file,
            line and field.
    """
    name = 'standard input' if path == '-' else path
    triples: dict[Triple, Verdict] = {}
    identities: dict[tuple[str, str, str, int], Verdict] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = parse_row(line.strip())
            verdict = read_label(row)
            if verdict is None:
                continue
            about: Any = _about(row)
            known: dict[Any, Verdict] = triples if isinstance(about, Triple) else identities
            if known.setdefault(about, verdict) is not verdict:
                raise ValueError(
                    f'{verdict.value} here, but {known[about].value} in an earlier row about the '
                    'same; keep one'
                )
        except ValueError as error:
            raise ValueError(f'{name}, line {number}: {error}') from error
    if not triples and not identities:
        raise ValueError(
            f'{name}: no row of it is labelled; fill in the field "human" with "correct" or '
            '"incorrect"'
        )
    return Labels(triples, identities)


def _about(row: Mapping[str, Any]) -> Triple | tuple[str, str, str, int]:
    if all(isinstance(row.get(name), str) for name in Triple._fields):
        return Triple(*(row[name] for name in Triple._fields))
    replica = row.get('replica')
    if isinstance(replica, int) and all(
        isinstance(row.get(name), (str, int)) for name in ('model', 'data_set', 'problem_id')
    ):
        return str(row['model']), str(row['data_set']), str(row['problem_id']), replica
    raise ValueError(
        'it does not say what it is about; give question, gold and answer as texts, or model, '
        'data_set, problem_id and replica'
    )
