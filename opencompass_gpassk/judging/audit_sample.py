"""Audits: compare two sources of verdicts on a stratified sample of a run's trials.

A source is the recorded verdicts, the rules, a judge that is asked or looked up, people, or the log
of another tool.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.jsonlines import input_name
from opencompass_gpassk.judging.judge import Candidate, Ledger, make_judge
from opencompass_gpassk.judging.pipeline import PromptedJudge
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.rules import judge_answers
from opencompass_gpassk.judging.settings import environment_match, read_settings
from opencompass_gpassk.judging.verdict_files import read_verdict_rows
from opencompass_gpassk.judging.verdict_store import StoredVerdict, VerdictStore
from opencompass_gpassk.metrics.agreement import Agreement, compare_verdicts
from opencompass_gpassk.metrics.share_intervals import effective_size
from opencompass_gpassk.trials import PEOPLE, Problem, Trial, TrialTable, Verdict

STRATA = ('split', 'language', 'level')  # of the problems' groups

Identity = tuple[str, str, str, int]  # model, data set, problem and replica
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AuditTrial:
    """A trial with everything that a source needs for a verdict.

    Attributes:
        model: The name of the model that answered.
        data_set: The data set's name.
        problem: The problem.
        trial: The response's answer, and its verdict when it was scored.
        judge: The name of the rules or the judge in the result's signature.
    """

    model: str
    data_set: str
    problem: Problem
    trial: Trial
    judge: str = ''

    @property
    def identity(self) -> Identity:
        """Model, data set, problem and replica."""
        return self.model, self.data_set, self.trial.problem_id, self.trial.replica

    @property
    def triple(self) -> Triple:
        """Question, gold answer and answer (or end), which a verdict refers to."""
        trial = self.trial
        answer = trial.end if trial.answer is None else trial.answer
        return Triple(self.problem.question, self.problem.gold, answer)

    @property
    def stratum(self) -> tuple[str, ...]:
        """Recorded verdict, its source, data set, and the problem's split, language and level."""
        groups = self.problem.groups
        said = self.trial.verdict.value, self.trial.source
        return *said, self.data_set, *(groups.get(name, '') for name in STRATA)


def audit_trials(model: str, data_set: str, table: TrialTable, judge: str) -> list[AuditTrial]:
    """Return the trials of a model on a data set.

    Args:
        model: The model's name.
        data_set: The data set's name.
        table: The trials.
        judge: The judge in the result's signature.
    """
    problems = {problem.problem_id: problem for problem in table.problems}
    return [
        AuditTrial(model, data_set, problems[trial.problem_id], trial, judge)
        for trial in table.trials
    ]


@dataclass(frozen=True)
class Sample:
    """A sample of one model's trials.

    Attributes:
        model: The model's name.
        trials: The drawn trials.
        weights: How many trials each stands for: the size of its stratum / the trials drawn there.
        population: Number of trials that the sample was drawn from.
        strata: Number of strata.
        no_answer: Number of trials left out because they give no answer.
        lost: Number of trials left out because they have no response.
    """

    model: str
    trials: list[AuditTrial]
    weights: list[float]
    population: int
    strata: int
    no_answer: int
    lost: int


def draw_sample(model: str, trials: Iterable[AuditTrial], size: int, seed: int = 0) -> Sample:
    """Draw a stratified sample of one model's trials.

    Strata are recorded verdict × its source × data set × split × language × level. Each stratum
    gets draws in proportion to its size, and at least one (:func:`allocate`). If there are more
    strata than ``size``, they are merged over level, then language, and so on. Small strata get
    more than their share, so each trial has a weight: weighted sums over the sample estimate sums
    over the run without bias (Horvitz and Thompson, JASA 47 (1952), 663-685).

    The strata don't depend on the compared sources, so all comparisons with one seed use the same
    trials. Only names and the seed decide the draw, in every process; a larger sample contains
    nearly all of a smaller one. Trials without an answer are left out, since no source judges them;
    but if a finished response has no recognised answer, its end is judged.

    Args:
        model: The model's name.
        trials: Its trials.
        size: Number of trials to draw; all trials if there are fewer.
        seed: Another seed draws other trials.
    """
    every = list(trials)
    present = [
        one
        for one in every
        if not one.trial.lost and (one.trial.answer is not None or one.trial.end)
    ]
    lost = sum(one.trial.lost for one in every)
    strata = _strata(present, size)
    counts = allocate([len(members) for members in strata.values()], size)
    drawn: list[AuditTrial] = []
    weights: list[float] = []
    for (key, members), count in zip(strata.items(), counts, strict=True):
        rng = random.Random(stable_hash([model, seed, key]))
        order = sorted(members, key=lambda one: one.identity)
        ranks = sorted((rng.random(), i) for i in range(len(order)))
        drawn += [order[i] for _, i in ranks[:count]]
        weights += [len(members) / count] * count
    return Sample(
        model, drawn, weights, len(present), len(strata), len(every) - len(present) - lost, lost
    )


def allocate(sizes: Sequence[int], total: int) -> list[int]:
    """Share at least as many draws as there are strata among them, given their sizes.

    Each stratum gets at least one draw; the rest is proportional, by largest remainders. Ties go to
    the larger stratum, then to the earlier one.

    >>> allocate([70, 25, 4, 1], 10)
    [6, 2, 1, 1]
    """
    if total >= sum(sizes):
        return list(sizes)
    counts = [1] * len(sizes)
    rest = list(range(len(sizes)))  # the strata that are entitled to at least one draw
    left, whole = total, sum(sizes)
    while small := [i for i in rest if left * sizes[i] < whole]:
        rest = [i for i in rest if i not in small]
        left -= len(small)
        whole -= sum(sizes[i] for i in small)
    for i in rest:
        counts[i] = left * sizes[i] // whole
    ranked = sorted(rest, key=lambda i: (-(left * sizes[i] % whole), -sizes[i], i))
    for i in ranked[: total - sum(counts)]:
        counts[i] += 1
    return counts


def _strata(trials: Sequence[AuditTrial], size: int) -> dict[tuple[str, ...], list[AuditTrial]]:
    """Return the finest strata that number at most ``size``, in a fixed order."""
    if size < 1:
        raise ValueError(f'trials is {size}; draw at least 1')
    depth = max((len(one.stratum) for one in trials), default=0)
    while len({one.stratum[:depth] for one in trials}) > size:
        depth -= 1
    strata: dict[tuple[str, ...], list[AuditTrial]] = {}
    for one in trials:
        strata.setdefault(one.stratum[:depth], []).append(one)
    return dict(sorted(strata.items()))


Labelled = tuple[AuditTrial, float, Verdict]  # with the trials that it stands for, and a label
Disagreement = tuple[AuditTrial, StoredVerdict, StoredVerdict]  # a trial with both opinions


@dataclass(frozen=True)
class Comparison:
    """A sample with the verdicts of two sources.

    Attributes:
        sample: The trials.
        first: The first source's opinion of each trial.
        second: The second source's opinion of each trial.
    """

    sample: Sample
    first: list[StoredVerdict]
    second: list[StoredVerdict]

    @cached_property
    def agreement(self) -> Agreement:
        """The agreement of both sources, estimated for the run that the sample was drawn from.

        Each trial is weighted by its stratum. The intervals treat the trials of a problem and its
        translations as correlated: often they give the same answer, which gets the same verdict.
        The intervals ignore the stratification and the finite size of the run; both could only
        make them narrower.
        """
        return compare_verdicts(
            [one.verdict for one in self.first],
            [one.verdict for one in self.second],
            weights=self.sample.weights,
            clusters=clusters(self.sample.trials),
        )

    def disagreements(self) -> Iterator[Disagreement]:
        """Yield the trials that both sources judged, with different verdicts."""
        for trial, first, second in zip(self.sample.trials, self.first, self.second, strict=True):
            said = {first.verdict, second.verdict}
            if len(said) == 2 and Verdict.UNJUDGED not in said:
                yield trial, first, second


def judge_audit(labels: Sequence[Labelled]) -> dict[str, Any]:
    """Return what labels say of a judge, for the store and for results.

    Returns:
        ``outcomes``: see :func:`labelled_outcomes`; ``known``: hash of question, gold answer and
        answer → whether it is right.
    """
    known = {
        stable_hash(trial.triple): label is Verdict.CORRECT
        for trial, _, label in labels
        if label is not Verdict.UNJUDGED
    }
    return {'outcomes': labelled_outcomes(labels), 'known': known}


def labelled_outcomes(labelled: Iterable[Labelled]) -> dict[str, tuple[float, float, float]]:
    """Return what labels say of a judging's outcomes.

    Args:
        labelled: Trials, how many trials each stands for, and the label on each.

    Returns:
        Outcome, such as ``rule: correct`` → number of trials; number of independent labels, of
        which equal answers are one; share of them that say that the answer is right. Verdicts of
        people are left out, and unjudged trials of which no label tells.
    """
    rows: dict[str, list[Labelled]] = {}
    for one in labelled:
        trial = one[0].trial
        if trial.source != PEOPLE:
            rows.setdefault(trial.outcome, []).append(one)
    found = {}
    for name, given in sorted(rows.items()):
        known = [row for row in given if row[2] is not Verdict.UNJUDGED]
        if not known and given[0][0].trial.verdict is Verdict.UNJUDGED:
            continue
        weights = np.array([weight for _, weight, _ in known])
        right = np.array([label is Verdict.CORRECT for *_, label in known])
        numbers = {triple: i for i, triple in enumerate({trial.triple for trial, *_ in known})}
        answers = [numbers[trial.triple] for trial, *_ in known]
        found[name] = (
            sum(weight for _, weight, _ in given),
            effective_size(right, weights, answers) if len(numbers) > 1 else float(len(numbers)),
            float(weights[right].sum() / weights.sum()) if known else 0.0,
        )
    return found


def clusters(trials: Sequence[AuditTrial]) -> NDArray[np.int32]:
    """Return each trial's cluster number; trials of a problem and its translations share one.

    A run may contain a problem in several data sets, for example with two decoding settings:
    problems with the same question are one cluster, and so are versions according to the data set.
    """
    nodes: dict[tuple[str, ...], int] = {}
    names, questions = [], []
    for one in trials:
        name = one.data_set, one.problem.cluster or one.problem.problem_id
        question = ' '.join(one.problem.question.split())
        names.append(nodes.setdefault(name, len(nodes)))
        questions.append(nodes.setdefault((question,) if question else name, len(nodes)))
    same = coo_array((np.ones(len(trials)), (names, questions)), shape=(len(nodes), len(nodes)))
    return connected_components(same, directed=False)[1][names]


def is_asked(name: str) -> bool:
    """Tell whether a source's name means a judge that is asked now."""
    return name.partition(':')[0] == 'judge'


def labels_on_recorded(comparisons: Iterable[Comparison], names: tuple[str, str]) -> list[Labelled]:
    """Return the trials with people's labels if these are compared with recorded verdicts, else [].

    Args:
        comparisons: The comparisons of all models.
        names: The names of both sources.
    """
    # Besides, people's labels are in the store or in a file.
    others = {'rule', 'judge', 'store', 'theirs'}
    if 'recorded' not in names or any(name.partition(':')[0] in others for name in names):
        return []
    people = 1 - names.index('recorded')
    return [
        (trial, weight, (first, second)[people].verdict)
        for one in comparisons
        for trial, weight, first, second in zip(
            one.sample.trials, one.sample.weights, one.first, one.second, strict=True
        )
    ]


def opinions(
    name: str, drawn: Sequence[AuditTrial], run: Sequence[AuditTrial], store: Path, report: Report
) -> dict[Identity, StoredVerdict]:
    """Return a source's opinions of the sampled trials.

    Args:
        name: ``recorded``, ``theirs``, ``rule``, ``judge``, ``judge:FILE`` (settings),
            ``store:MODEL``, ``human`` or a file of labels.
        drawn: The sampled trials.
        run: All trials, from which they were drawn.
        store: The verdict store.
        report: Takes messages for the user.

    Raises:
        ValueError: If no source has this name, its file can't be read, or it judged no trial.
        JudgeError: If the judge can't be asked, or the store can't be used.
    """
    kind, _, rest = name.partition(':')
    if name == 'recorded':
        said = [StoredVerdict(one.trial.verdict, one.trial.reason) for one in drawn]
    elif name == 'theirs':
        said = [
            StoredVerdict(one.trial.other_verdict, one.trial.other_source)
            if one.trial.other_verdict
            else StoredVerdict(Verdict.UNJUDGED, 'no verdict of a tool: gpassk score LOG keeps it')
            for one in drawn
        ]
    elif name == 'rule':
        answered = [one for one in drawn if one.trial.answer is not None]
        triples = [one.triple for one in answered]
        ruled = judge_answers(
            [(one.gold, one.answer, one.question) for one in triples], match=environment_match()
        )
        of_answers = {
            one.identity: StoredVerdict(said.verdict, said.reason)
            for one, said in zip(answered, ruled, strict=True)
        }
        none = StoredVerdict(Verdict.INCORRECT, 'no answer')
        said = [of_answers.get(one.identity, none) for one in drawn]
    else:
        missing = 'not in the verdict store'
        if is_asked(name):
            found = _ask(name, drawn, store, report)
        elif name == 'human' or (kind == 'store' and rest):
            found = _look_up(name, drawn, store, report)
        else:
            found = _read_labels(name, drawn, run, report)
            missing = 'not labelled'
        said = [found.get(one.triple, StoredVerdict(Verdict.UNJUDGED, missing)) for one in drawn]
    if said and all(one.verdict is Verdict.UNJUDGED for one in said):
        raise ValueError(
            f'{name}: none of the {len(said)} sampled trials is judged, the first because: '
            f'{said[0].reason}'
        )
    return {one.identity: opinion for one, opinion in zip(drawn, said, strict=True)}


Found = dict[Triple, StoredVerdict]


def _ask(name: str, drawn: Sequence[AuditTrial], path: Path, report: Report) -> Found:
    """Return a judge's verdicts on final answers; it is only asked if the store lacks its verdict.

    Rules and people's verdicts are not used, since the judge is audited.
    """
    given = name.partition(':')[2] or 'llm'
    settings = read_settings(given)
    if settings.candidate != 'answer':
        raise ValueError(
            f"{given}: candidate is {settings.candidate!r}, but a run's trials hold only final "
            "answers; set candidate to 'answer'"
        )
    if silent := {one.data_set for one in drawn if not one.problem.question}:
        raise ValueError(
            f'{", ".join(sorted(silent))}: the trials do not hold their questions, which a judge '
            'must see; audit other data sets with --dataset'
        )
    cases = {
        one.triple: Candidate(
            one.problem.question,
            one.problem.gold,
            one.trial.answer,
            language=one.problem.language or one.problem.groups.get('language', ''),
        )
        for one in drawn
    }
    judge, ledger = make_judge(settings), Ledger()
    report(f'{name}: verdicts are kept in {path}')
    with VerdictStore(path) as store:
        prompted = PromptedJudge(judge, settings, store)
        judged = prompted.recall(cases, ledger)
        pending = {triple: case for triple, case in cases.items() if triple not in judged}
        judged |= prompted.ask(pending, ledger, progress=True)
        found: Found = {
            triple: StoredVerdict(said.verdict, said.reason) for triple, said in judged.items()
        }
        for identity in prompted.identities.values():
            found |= store.get(identity, cases, replies=True)
    failures = ''.join(f', {kind} {count}' for kind, count in ledger.failures.most_common())
    report(f'{name}: {ledger.calls} calls{failures}')
    return found


def _look_up(name: str, drawn: Sequence[AuditTrial], path: Path, report: Report) -> Found:
    """Return the stored verdicts of people, or of a judge: of several the last one."""
    if not path.exists():
        raise ValueError(f'{path}: there is no verdict store; name one with --store')
    report(f'{name}: verdicts in {path}')
    judge = name.partition(':')[2]
    triples = {one.triple for one in drawn}
    with VerdictStore(path, read_only=True) as store:
        if not judge:
            return store.get(None, triples, replies=True)
        judges = store.judges()
        found = [store.get(one, triples, replies=True) for one in judges if one.model == judge]
    if not found:
        names = ', '.join(sorted({one_line(one.model) for one in judges}))
        raise ValueError(
            f'{path}: no verdict of {judge!r} in it; it holds those of {names or "nobody"}'
        )
    last: Found = {}
    for triple in triples:
        said = [verdicts[triple] for verdicts in found if triple in verdicts]
        if said:  # an unjudged one is the last only if all are
            judged = [one for one in said if one.verdict is not Verdict.UNJUDGED]
            last[triple] = max(judged or said, key=lambda one: one.created or 0.0)
    return last


def _read_labels(
    path: str, drawn: Sequence[AuditTrial], run: Sequence[AuditTrial], report: Report
) -> Found:
    """Return people's labels from JSON lines, gzipped or not: a file, or ``-``.

    Each row has ``question``, ``gold`` and ``answer``, and a label
    (:func:`~opencompass_gpassk.judging.verdict_files.read_label`).
    """
    if path != '-' and not Path(path).is_file():
        raise ValueError(
            f'{path}: there is no such file of labels; a source of verdicts is recorded, theirs, '
            'rule, judge, judge:FILE, store:MODEL, human or a file'
        )
    people = (one for one in read_verdict_rows(path).records if one.judge is None)
    labels: Found = {record.triple: record.said for record in people}
    if not labels:
        raise ValueError(
            f'{input_name(path)}: no row of it is labelled; fill in the field "human" with '
            '"correct" or "incorrect"'
        )
    unused, unknown = (
        len(labels.keys() - {one.triple for one in trials}) for trials in (drawn, run)
    )
    if unused:
        report(
            f'{path}: {unused} labels match no answer of the sample, and {unknown} of these match '
            'none of the run; give the --trials and --seed of the draw, or --trials large enough '
            'for all'
        )
    return labels
