"""Audits: compare two sources of verdicts on a stratified sample of a run's trials.

A source is the recorded verdicts, the rules, a judge that is asked or looked up, or people.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from opencompass_gpassk.formats.display import one_line, short_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.jsonlines import at_line, input_name, numbered_lines, parse_row
from opencompass_gpassk.judging.export import read_label
from opencompass_gpassk.judging.judge import Candidate, Judge, Ledger, Triple, make_judge
from opencompass_gpassk.judging.pipeline import PromptedJudge
from opencompass_gpassk.judging.rules import judge_answers
from opencompass_gpassk.judging.settings import JudgeSettings, read_settings
from opencompass_gpassk.judging.store import StoredVerdict, VerdictStore
from opencompass_gpassk.metrics.agreement import Agreement, compare_verdicts
from opencompass_gpassk.runs.config import trials_files
from opencompass_gpassk.trials import Problem, Trial, Verdict, read_trials

__all__ = [
    'AuditTrial',
    'Comparison',
    'Opinion',
    'Sample',
    'Source',
    'allocate',
    'ask_now',
    'clusters',
    'draw_sample',
    'is_asked',
    'look_up',
    'named_source',
    'needs_store',
    'read_labels',
    'read_run',
    'recorded',
    'rule',
]

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
    """

    model: str
    data_set: str
    problem: Problem
    trial: Trial

    @property
    def identity(self) -> Identity:
        """Model, data set, problem and replica."""
        return self.model, self.data_set, self.trial.problem_id, self.trial.replica

    @property
    def triple(self) -> Triple:
        """Question, gold answer and answer, which a verdict refers to."""
        return Triple(self.problem.question, self.problem.gold, self.trial.answer or '')

    @property
    def stratum(self) -> tuple[str, ...]:
        """Recorded verdict, data set, and the problem's split, language and level."""
        groups = self.problem.groups
        return self.trial.verdict.value, self.data_set, *(groups.get(name, '') for name in STRATA)


def read_run(
    path: Path,
    models: Collection[str] = (),
    data_sets: Collection[str] = (),
    *,
    report: Report = print,
) -> tuple[Path, dict[str, list[AuditTrial]]]:
    """Return a run's folder, and model → its trials on all its data sets.

    Args:
        path: As in :func:`~opencompass_gpassk.runs.config.trials_files`.
        models: Models to read; by default all.
        data_sets: Data sets to read; by default all.
        report: Takes a message on each unreadable file, if others can be read.

    Raises:
        ValueError: If there are no trials, or none can be read; it names the files.
    """
    found: dict[str, list[AuditTrial]] = {}
    faults: list[str] = []
    folder, there = trials_files(path)
    for (model, data_set), file in there.items():
        if (models and model not in models) or (data_sets and data_set not in data_sets):
            continue
        try:
            table, _ = read_trials(file)
        except ValueError as error:
            faults.append(short_line(str(error)))
            continue
        problems = {problem.problem_id: problem for problem in table.problems}
        found.setdefault(model, []).extend(
            AuditTrial(model, data_set, problems[trial.problem_id], trial) for trial in table.trials
        )
    if faults and not found:
        raise ValueError('\n'.join(faults))
    for fault in faults:
        report(fault)
    if not found:
        names = ', '.join(f'{model} on {data_set}' for model, data_set in sorted(there))
        raise ValueError(f'{path}: no trials of the models and data sets asked for; it has {names}')
    return folder, found


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

    Strata are recorded verdict × data set × split × language × level. Each stratum gets draws in
    proportion to its size, and at least one (:func:`allocate`). If there are more strata than
    ``size``, they are merged over level, then language, and so on. Small strata get more than their
    share, so each trial has a weight: weighted sums over the sample estimate sums over the run
    without bias (Horvitz and Thompson, JASA 47 (1952), 663-685).

    The strata don't depend on the compared sources, so all comparisons with one seed use the same
    trials. Only names and the seed decide the draw, in every process; a larger sample contains
    nearly all of a smaller one. Trials without an answer are left out: no source judges them.

    Args:
        model: The model's name.
        trials: Its trials.
        size: Number of trials to draw; all trials if there are fewer.
        seed: Another seed draws other trials.
    """
    every = list(trials)
    present = [one for one in every if not one.trial.lost and one.trial.answer is not None]
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
    """Share ``total`` draws among strata of given sizes (at least 1 each).

    Each stratum gets at least one draw; the rest is proportional, by largest remainders. Ties go to
    the larger stratum, then to the earlier one.

    Raises:
        ValueError: If a size is below 1, or there are more strata than draws.

    >>> allocate([70, 25, 4, 1], 10)
    [6, 2, 1, 1]
    """
    if any(size < 1 for size in sizes) or total < len(sizes):
        raise ValueError(
            f'total is {total} and sizes are {list(sizes)}; each stratum needs a trial and a draw'
        )
    if total >= sum(sizes):
        return list(sizes)
    counts = [0] * len(sizes)
    rest = list(range(len(sizes)))
    while True:
        left, whole = total - sum(counts), sum(sizes[i] for i in rest)
        small = [i for i in rest if left * sizes[i] < whole]  # entitled to less than one
        if not small:
            break
        for i in small:
            counts[i] = 1
        rest = [i for i in rest if not counts[i]]
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


@dataclass(frozen=True)
class Comparison:
    """A sample with the verdicts of two sources.

    Attributes:
        sample: The trials.
        first: The first source's opinion of each trial.
        second: The second source's opinion of each trial.
        level: Coverage of the intervals.
    """

    sample: Sample
    first: list[Opinion]
    second: list[Opinion]
    level: float = 0.95

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
            level=self.level,
        )

    def disagreements(self) -> Iterator[tuple[AuditTrial, Opinion, Opinion]]:
        """Yield the trials that both sources judged, with different verdicts."""
        for trial, first, second in zip(self.sample.trials, self.first, self.second, strict=True):
            said = {first.verdict, second.verdict}
            if len(said) == 2 and Verdict.UNJUDGED not in said:
                yield trial, first, second


def clusters(trials: Sequence[AuditTrial]) -> list[int]:
    """Return each trial's cluster number; trials of a problem and its translations share one.

    A run may contain a problem in several data sets, for example with two decoding settings:
    problems with the same question are one cluster, and so are versions according to the data set.
    """
    above: dict[tuple[str, ...], tuple[str, ...]] = {}  # union-find: a root is its own parent

    def root(name: tuple[str, ...]) -> tuple[str, ...]:
        above.setdefault(name, name)
        while above[name] != name:
            above[name] = name = above[above[name]]
        return name

    names = []
    for one in trials:
        problem = one.problem
        name = one.data_set, problem.cluster or problem.problem_id
        if question := ' '.join(problem.question.split()):
            above[root((question,))] = root(name)
        names.append(name)
    numbers: dict[tuple[str, ...], int] = {}
    return [numbers.setdefault(root(name), len(numbers)) for name in names]


class Opinion(NamedTuple):
    """A source's opinion of a trial.

    Attributes:
        verdict: Correct, incorrect or unjudged.
        reason: Why it is unjudged.
        reply: The judge's reply, '' if there is none.
    """

    verdict: Verdict
    reason: str = ''
    reply: str = ''


Source = Callable[[Sequence[AuditTrial]], list[Opinion]]


def recorded(trials: Sequence[AuditTrial]) -> list[Opinion]:
    """Return the trials' verdicts from when they were scored."""
    return [Opinion(one.trial.verdict, one.trial.reason) for one in trials]


def rule(trials: Sequence[AuditTrial]) -> list[Opinion]:
    """Return the verdicts that the current rules give to the trials' answers."""
    judged = judge_answers([(t.gold, t.answer, t.question) for t in (one.triple for one in trials)])
    return [Opinion(judgement.verdict, judgement.reason) for judgement in judged]


Opinions = dict[Triple | Identity, Opinion]


def known(opinions: Opinions, missing: str) -> Source:
    """Return a source of known opinions.

    Args:
        opinions: By question, gold and answer, for every trial with these texts; or by model, data
            set, problem and replica, for one trial.
        missing: The reason why other trials are unjudged.
    """
    nothing = Opinion(Verdict.UNJUDGED, missing)
    return lambda trials: [
        opinions.get(one.triple) or opinions.get(one.identity, nothing) for one in trials
    ]


def read_labels(path: str) -> Opinions:
    """Return people's labels from a file: JSON lines, gzipped or not, or ``-``.

    Each row has a label (:func:`~opencompass_gpassk.judging.export.read_label`); and
    ``question``, ``gold`` and ``answer``, or ``model``, ``data_set``, ``problem_id`` and
    ``replica``. Rows with an empty label are skipped.

    Raises:
        ValueError: If a row can't be read or contradicts another, or no label is filled in; it
            names file, line and field.
    """
    labels: Opinions = {}
    for number, line in numbered_lines(path):
        with at_line(path, number):
            row = parse_row(line.strip())
            verdict = read_label(row)
            if verdict is None:
                continue
            about = _about(row)
            earlier = labels.setdefault(about, Opinion(verdict)).verdict
            if earlier is not verdict:
                raise ValueError(
                    f'{verdict.value} here, but {earlier.value} in an earlier row on the same '
                    'answer or trial; keep one'
                )
    if not labels:
        raise ValueError(
            f'{input_name(path)}: no row of it is labelled; fill in the field "human" with '
            '"correct" or "incorrect"'
        )
    return labels


def _about(row: Mapping[str, Any]) -> Triple | Identity:
    texts = [row.get(name) for name in Triple._fields]
    if all(isinstance(text, str) for text in texts):
        return Triple(*map(str, texts))
    names = [row.get(name) for name in ('model', 'data_set', 'problem_id')]
    replica = row.get('replica')
    if isinstance(replica, int) and all(isinstance(name, (str, int)) for name in names):
        model, data_set, problem_id = map(str, names)
        return model, data_set, problem_id, replica
    raise ValueError(
        'the row does not say what its label is for; give question, gold and answer as texts, or '
        'model, data_set, problem_id and replica'
    )


def unused_labels(labels: Opinions, trials: Sequence[AuditTrial]) -> int:
    """Return the number of labels that match none of the trials."""
    return len(labels.keys() - {one.triple for one in trials} - {one.identity for one in trials})


NOT_IN_STORE = 'not in the verdict store'


def look_up(
    store: VerdictStore, judge: str | None, trials: Iterable[AuditTrial], report: Report
) -> Source:
    """Return the stored verdicts of a judge or of people; of several, the last one counts.

    Args:
        store: The verdict store.
        judge: The judge's name; None for people.
        trials: The trials to look up.
        report: Takes a message on answers that were judged under several prompts or settings.

    Raises:
        ValueError: If the store holds no verdict of that judge; it names the judges in the store.
        StoreError: If the store can't be read.
    """
    triples = {one.triple for one in trials}
    if judge is None:
        return known(_opinions(store.get(None, triples, replies=True)), NOT_IN_STORE)
    judges = store.judges()
    said: dict[Triple, list[StoredVerdict]] = {}
    for identity in judges:
        if identity.model == judge:
            for triple, one in store.get(identity, triples, replies=True).items():
                said.setdefault(triple, []).append(one)
    if judge not in {identity.model for identity in judges}:
        names = ', '.join(sorted({one_line(identity.model) for identity in judges}))
        raise ValueError(
            f'{store.path}: no verdict of {judge!r} in it; it holds those of {names or "nobody"}'
        )
    if several := sum(len(ones) > 1 for ones in said.values()):
        report(
            f'{judge} judged {several} of the answers under several prompts or settings: its last '
            'verdict on each counts'
        )
    last = {triple: max(ones, key=_rank) for triple, ones in said.items()}
    return known(_opinions(last), NOT_IN_STORE)


def _rank(said: StoredVerdict) -> tuple[bool, float]:
    """Return a sort key for verdicts: the greatest is taken; an unjudged one ranks last."""
    return said.verdict is not Verdict.UNJUDGED, said.created or 0.0


def _opinions(verdicts: Mapping[Triple, StoredVerdict]) -> Opinions:
    return {key: Opinion(one.verdict, one.reason, one.reply) for key, one in verdicts.items()}


def ask_now(
    judge: Judge,
    settings: JudgeSettings,
    store: VerdictStore,
    trials: Iterable[AuditTrial],
    *,
    progress: bool = False,
) -> tuple[Source, Ledger]:
    """Return a judge's verdicts on the final answers of trials, from the store where it has them.

    Rules and people's verdicts are not used, since the judge is audited.

    Args:
        judge: The judge.
        settings: Its settings, with prompt and menu.
        store: Keeps each verdict as soon as it arrives, with the judge's reply.
        trials: Trials, each with an answer.
        progress: Show a bar on standard error.

    Raises:
        ValueError: If the prompt can't be read.
        JudgeError: If the judge can't be asked at all; its earlier verdicts are in the store.
    """
    prompted = PromptedJudge(judge, settings, store)
    cases = {
        one.triple: Candidate(
            *one.triple,
            language=one.problem.language or one.problem.groups.get('language', ''),
        )
        for one in trials
    }
    ledger = Ledger(price_per_mtok=settings.prices)
    found = prompted.recall(cases)
    ledger.saved['store'] = len(found)
    pending = {triple: case for triple, case in cases.items() if triple not in found}
    found |= prompted.ask(pending, ledger, progress=progress).judgements
    opinions: Opinions = {triple: Opinion(one.verdict, one.reason) for triple, one in found.items()}
    for identity in prompted.identities.values():
        for triple, said in store.get(identity, cases, replies=True).items():
            opinions[triple] = opinions[triple]._replace(reply=said.reply)
    return known(opinions, NOT_IN_STORE), ledger


def is_asked(name: str) -> bool:
    """Tell whether a name means a judge that is asked now, not looked up."""
    return name.partition(':')[0] == 'judge'


def needs_store(name: str) -> bool:
    """Tell whether a name means a source that reads or writes a verdict store."""
    return is_asked(name) or name == 'human' or name.startswith('store:')


def named_source(
    name: str, store: Path, drawn: Sequence[AuditTrial], every: Sequence[AuditTrial], report: Report
) -> Source:
    """Return the source that a name means.

    Args:
        name: ``recorded``, ``rule``, ``judge``, ``judge:FILE`` (settings), ``store:MODEL``,
            ``human`` or a file of labels.
        store: The verdict store.
        drawn: The sampled trials. A judge is asked about them in this call.
        every: All trials, from which they were drawn.
        report: Takes messages for the user.

    Raises:
        ValueError: If no source has this name, or its file can't be read.
        JudgeError: If the judge can't be asked, or the store can't be used.
    """
    kind, _, rest = name.partition(':')
    if name == 'recorded':
        return recorded
    if name == 'rule':
        return rule
    if is_asked(name):
        return _judge(rest or 'llm', store, drawn, report)
    if name == 'human' or (kind == 'store' and rest):
        if not store.exists():
            raise ValueError(f'{store}: there is no verdict store; name it with --store')
        with VerdictStore(store, read_only=True) as opened:
            return look_up(opened, rest or None, drawn, report)
    if name != '-' and not Path(name).is_file():
        raise ValueError(
            f'{name}: there is no such file of labels; a source of verdicts is recorded, rule, '
            'judge, judge:FILE, store:MODEL, human or a file'
        )
    labels = read_labels(name)
    if unused := unused_labels(labels, drawn):
        report(
            f'{name}: {unused} labels match no answer of the sample, and '
            f'{unused_labels(labels, every)} of these match none of the run; give the --trials and '
            '--seed of the draw, or --trials large enough for all'
        )
    return known(labels, 'not labelled')


def _judge(given: str, store: Path, drawn: Sequence[AuditTrial], report: Report) -> Source:
    """Ask a judge, given by its mode or a file of settings, about the sampled trials."""
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
    judge = make_judge(settings)
    with VerdictStore(store) as opened:
        opinions, ledger = ask_now(judge, settings, opened, drawn, progress=True)
    failures = ''.join(f', {kind} {count}' for kind, count in ledger.failures.most_common())
    report(f'judge: {ledger.calls} calls{failures}; verdicts are kept in {store}')
    return opinions
