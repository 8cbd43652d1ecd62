"""Sources of verdicts that an audit compares: recorded verdicts, rules, judges, people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from opencompass_gpassk.formats.display import one_line, short_line
from opencompass_gpassk.formats.jsonlines import at_line, input_name, numbered_lines, parse_row
from opencompass_gpassk.judging.export import read_label
from opencompass_gpassk.judging.judge import Candidate, Judge, Ledger, Triple, make_judge
from opencompass_gpassk.judging.pipeline import PromptedJudge
from opencompass_gpassk.judging.rules import judge_answers
from opencompass_gpassk.judging.settings import JudgeSettings, read_settings
from opencompass_gpassk.judging.store import StoredVerdict, VerdictStore
from opencompass_gpassk.runs.config import find_run
from opencompass_gpassk.trials import Problem, Trial, Verdict, read_trials

__all__ = [
    'AuditTrial',
    'Labels',
    'Opinion',
    'RunTrials',
    'Source',
    'ask_now',
    'clusters',
    'is_asked',
    'look_up',
    'named_source',
    'needs_store',
    'read_labels',
    'read_run',
    'recorded',
    'rule',
    'trials_files',
]

ENDING = '.trials.jsonl.gz'
UNNAMED = 'samples'  # the model's name if its trials are in no folder of its own
STRATA = ('split', 'language', 'level')  # of the problems' groups


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
    def identity(self) -> tuple[str, str, str, int]:
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


@dataclass(frozen=True)
class RunTrials:
    """The trials of a run.

    Attributes:
        folder: The run's folder.
        by_model: Model → its trials on all its data sets.
    """

    folder: Path
    by_model: dict[str, list[AuditTrial]]


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


def read_run(
    path: Path,
    models: Collection[str] = (),
    data_sets: Collection[str] = (),
    *,
    report: Callable[[str], None] = print,
) -> RunTrials:
    """Read the trials of every model in a run.

    Args:
        path: A timestamp folder of OpenCompass, its work dir (the newest run is taken), another
            folder with a folder for each model, or one trials file.
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
    return RunTrials(folder, found)


def trials_files(path: Path) -> tuple[Path, dict[tuple[str, str], Path]]:
    """Return a run's folder, and (model, data set) → file of the trials in it."""
    if path.is_file():
        run, known, model = path.resolve().parent.as_posix().rpartition('/results/')
        if known:
            return Path(run), {(model, _data_set(path)): path}
        return path.parent, {(UNNAMED, _data_set(path)): path}
    if not path.is_dir():
        raise ValueError(f'{path}: there is no such folder or file')
    try:
        folders = [find_run(path)]  # as the other commands do
    except ValueError:  # runs that were moved without their configs, or no run at all
        folders = [path, *sorted(path.glob('*/'), reverse=True)]
    roots = [*((folder, folder / 'results') for folder in folders), (folders[0], folders[0])]
    for folder, root in roots:
        files = sorted(root.rglob(f'*{ENDING}'))
        if files:
            return folder, {(_model(file, root), _data_set(file)): file for file in files}
    raise ValueError(
        f'{folders[0]}: there are no trials in it; name a run of OpenCompass that GPassKEvaluator '
        f'has scored, or a file *{ENDING} written by gpassk score -o'
    )


def _model(file: Path, root: Path) -> str:
    folder = file.parent.relative_to(root).as_posix()  # a model's name may hold slashes
    return UNNAMED if folder == '.' else folder


def _data_set(file: Path) -> str:
    return file.name.removesuffix(ENDING)


NOT_LABELLED = 'not labelled'


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
    triples = [one.triple for one in trials]
    judgements = judge_answers([t.gold for t in triples], [t.answer for t in triples])
    return [Opinion(judgement.verdict, judgement.reason) for judgement in judgements]


class Labels:
    """People's labels, as a source of verdicts.

    A label with question, gold and answer holds for every trial with these texts. Any other label
    holds for the one trial that it names.

    Args:
        by_triple: Verdicts by question, gold and answer.
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
        """Return the number of labels that match none of the trials."""
        every = list(trials)
        triples, identities = {one.triple for one in every}, {one.identity for one in every}
        return len(self.by_triple.keys() - triples) + len(self.by_identity.keys() - identities)


def read_labels(path: str) -> Labels:
    """Read a file of people's labels: JSON lines, gzipped or not, or ``-``.

    Each row has a label (:func:`~opencompass_gpassk.judging.export.read_label`); and
    ``question``, ``gold`` and ``answer``, or ``model``, ``data_set``, ``problem_id`` and
    ``replica``. Rows with an empty label are skipped.

    Raises:
        ValueError: If a row can't be read or contradicts another, or no label is filled in; it
            names file, line and field.
    """
    triples: dict[Triple, Verdict] = {}
    identities: dict[tuple[str, str, str, int], Verdict] = {}
    for number, line in numbered_lines(path):
        with at_line(path, number):
            row = parse_row(line.strip())
            verdict = read_label(row)
            if verdict is None:
                continue
            about: Any = _about(row)
            known: dict[Any, Verdict] = triples if isinstance(about, Triple) else identities
            if known.setdefault(about, verdict) is not verdict:
                raise ValueError(
                    f'{verdict.value} here, but {known[about].value} in an earlier row on the '
                    'same answer or trial; keep one'
                )
    if not triples and not identities:
        raise ValueError(
            f'{input_name(path)}: no row of it is labelled; fill in the field "human" with '
            '"correct" or "incorrect"'
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
        'the row does not say what its label is for; give question, gold and answer as texts, or '
        'model, data_set, problem_id and replica'
    )


NOT_IN_STORE = 'not in the verdict store'


def _from_known(known: Mapping[Triple, Opinion]) -> Source:
    """Return a source of known verdicts; a trial without one is unjudged."""
    nothing = Opinion(Verdict.UNJUDGED, NOT_IN_STORE)
    return lambda trials: [known.get(one.triple, nothing) for one in trials]


def look_up(
    store: VerdictStore,
    judge: str | None,
    trials: Iterable[AuditTrial],
    report: Callable[[str], None],
) -> Source:
    """Return the stored verdicts of a judge or of people; of several, the last one counts.

    Args:
        store: The verdict store.
        judge: The judge's name; None for people.
        trials: The trials to look up.
        report: Takes a message on answers that were judged under several prompts or settings.

    Raises:
        ValueError: If the store holds no verdict of that judge; it names the judges in the store.
        StoreError: If the store is damaged or can't be read.
    """
    triples = {one.triple for one in trials}
    if judge is None:
        people = store.human(triples, replies=True)
        return _from_known({triple: _opinion(said) for triple, said in people.items()})
    judges = store.judges()
    meant = [one for one in judges if one.model == judge]
    if not meant:
        names = ', '.join(sorted({one_line(one.model) for one in judges}))
        raise ValueError(
            f'{store.path}: no verdict of {judge!r} in it; it holds those of {names or "nobody"}'
        )
    last: dict[Triple, StoredVerdict] = {}
    several = set()
    for identity in meant:
        for triple, said in store.get(identity, triples, replies=True).items():
            if triple in last:
                several.add(triple)
            if triple not in last or _rank(last[triple]) <= _rank(said):
                last[triple] = said
    if several:
        report(
            f'{judge} judged {len(several)} of the answers under several prompts or settings: its '
            'last verdict on each counts'
        )
    return _from_known({triple: _opinion(said) for triple, said in last.items()})


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
    replies = {
        triple: said.reply
        for identity in prompted.identities.values()
        for triple, said in store.get(identity, cases, replies=True).items()
    }
    return _from_known(
        {
            triple: Opinion(one.verdict, one.reason, replies.get(triple, ''))
            for triple, one in found.items()
        }
    ), ledger


def _rank(said: StoredVerdict) -> tuple[bool, float]:
    """Return a sort key for verdicts: the greatest is taken; an unjudged one ranks last."""
    return said.verdict is not Verdict.UNJUDGED, said.created or 0.0


def _opinion(said: StoredVerdict) -> Opinion:
    return Opinion(said.verdict, said.reason, said.reply)


Report = Callable[[str], None]


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
        return _ask(rest, store, drawn, report)
    if name == 'human' or (kind == 'store' and rest):
        return _look_up(rest or None, store, drawn, report)
    if name != '-' and not Path(name).is_file():
        raise ValueError(
            f'{name}: there is no such file of labels; a source of verdicts is recorded, rule, '
            'judge, judge:FILE, store:MODEL, human or a file'
        )
    return _labels(name, drawn, every, report)


def _ask(named: str, store: Path, drawn: Sequence[AuditTrial], report: Report) -> Source:
    settings = read_settings(named or 'llm')
    if settings.candidate != 'answer':
        raise ValueError(
            f"{named}: candidate is {settings.candidate!r}, but a run's trials hold only final "
            "answers; set candidate to 'answer'"
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


def _look_up(judge: str | None, store: Path, drawn: Sequence[AuditTrial], report: Report) -> Source:
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
            f'{path}: {unused} labels match no answer of the sample, and {labels.unused(every)} of '
            'these match none of the run; give the --trials and --seed of the draw, or --trials '
            'large enough for all'
        )
    return labels
