"""From judged responses to the result of one model on one data set, and the files that hold it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk import __version__
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.inference.sampling import REPLACED, meant_greedy
from opencompass_gpassk.judging.rules import (
    EMPTY,
    REFUSED,
    THOUGHTS_ONLY,
    answer_classes,
    silence,
)
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.metrics.independence import (
    LONG_RESPONSE,
    Independence,
    audit_independence,
    stem,
    unlinked_translations,
)
from opencompass_gpassk.metrics.version_metrics import ratio
from opencompass_gpassk.responses import Response
from opencompass_gpassk.results.groups import VersionGroups, in_group
from opencompass_gpassk.results.metric import CR, GROUP_ACCURACY, OOR, PASS, SP_ACCURACY, Side
from opencompass_gpassk.results.metric_intervals import (
    IntervalSettings,
    metric_intervals,
    stored_intervals,
)
from opencompass_gpassk.results.metric_values import MetricValues, bounds, cluster_names
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.reasoning_summary import reasoning_summary
from opencompass_gpassk.results.reliable_problems import RATE, attempts, reliable_counts
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.results.token_metrics import token_metrics
from opencompass_gpassk.results.true_verdicts import judge_error
from opencompass_gpassk.results.warnings import result_warnings
from opencompass_gpassk.trials import (
    SCHEMA,
    UNDECIDED,
    UNRECOGNISED,
    Problem,
    Trial,
    TrialTable,
    Verdict,
    write_trials,
)

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.score_responses import ScoredResponse


def problem_rows(
    table: TrialTable, of_sound: NDArray[np.int64] | None = None
) -> list[dict[str, object]]:
    """Return n, c and the distinct answers with their counts, for each problem.

    Args:
        table: The trials.
        of_sound: Shape (P,): sound ones among the c, if reasoning is scored.
    """
    n, c = table.counts()
    return [
        {
            'problem_id': problem.problem_id,
            **({'version': problem.version} if problem.version else {}),
            **({'cluster': problem.cluster} if problem.cluster else {}),
            **problem.groups,
            'gold': problem.gold,
            'n': int(n[index]),
            'c': int(c[index]),
            **({} if of_sound is None else {'sound': int(of_sound[index])}),
            'answers': _answers(of_problem),
        }
        for index, (problem, of_problem) in enumerate(
            zip(table.problems, table.by_problem(), strict=True)
        )
    ]


def _answers(trials: Sequence[Trial]) -> list[dict[str, object]]:
    first: dict[tuple[int, Verdict, str], Trial] = {}
    counts: Counter[tuple[int, Verdict, str]] = Counter()
    for trial in trials:
        key = (trial.answer_class, trial.verdict, trial.source)
        first.setdefault(key, trial)
        counts[key] += 1
    return [
        {
            'answer': _printable(first[key].answer),
            'count': count,
            'verdict': key[1].value,
            'source': key[2],
        }
        for key, count in counts.most_common()
    ]


def _printable(answer: str | None) -> str | None:
    # OpenCompass writes results unescaped; a lone surrogate would stop it halfway.
    return answer and answer.encode('utf-8', 'replace').decode('utf-8')


INTERVALS = IntervalSettings()


def make_table(
    problems: Sequence[Problem],
    responses: Sequence[Response],
    judgements: Sequence[Judgement],
    reasoning: Sequence[ScoredResponse] | None = None,
    *,
    progress: bool = False,
) -> TrialTable:
    """Join responses (which must hold their identity), judgements and scores to a trial table.

    ``judgements`` and ``reasoning`` (if it is scored) have one entry for each response that is not
    lost, in the same order.
    """
    judged = iter(judgements)
    rows = [
        Judgement(Verdict.UNJUDGED, None, response.lost, '') if response.lost else next(judged)
        for response in responses
    ]
    scored = iter(reasoning or ())
    scores = [None if one.lost or reasoning is None else next(scored) for one in responses]
    identities = [_identity(response) for response in responses]
    classes = answer_classes([problem for problem, _ in identities], rows, progress=progress)
    trials = [
        Trial(
            problem_id=problem_id,
            replica=replica,
            verdict=row.verdict,
            source=row.source,
            answer=row.answer,
            end=row.end,
            answer_class=answer_class,
            reason=row.reason,
            lost=bool(response.lost),
            truncated=response.truncated,
            num_tokens=response.num_tokens,
            prompt_tokens=response.prompt_tokens,
            other_verdict=response.other_verdict,
            other_source=response.other_source,
            values=score.values if score else {},
            unscored=score.unscored if score else '',
            response=response.location,
            sample_id=response.own_id,
            text_hash='' if response.lost else text_hash([response.raw]),
            long=len(response.raw) >= LONG_RESPONSE and not response.truncated,
        )
        for (problem_id, replica), response, row, answer_class, score in zip(
            identities, responses, rows, classes, scores, strict=True
        )
    ]
    return TrialTable(problems, trials)


def audit_responses(responses: Sequence[Response]) -> Independence:
    """Audit the independence of the responses that are not lost, before postprocessing."""
    present = [response for response in responses if not response.lost]
    problems = {pid: i for i, pid in enumerate(dict.fromkeys(_identity(r)[0] for r in present))}
    texts: dict[int, int] = {}  # hash of a text → its number; the texts may not fit into memory
    lengths, numbers, stems = [], [], []
    for raw in (response.raw for response in present):
        lengths.append(len(raw))
        numbers.append(texts.setdefault(hash(raw), len(texts)))
        stems.append(hash(stem(raw)) if len(raw) >= LONG_RESPONSE else 0)
    return audit_independence(
        problem=np.array([problems[_identity(r)[0]] for r in present], dtype=np.int64),
        replica=np.array([_identity(r)[1] for r in present], dtype=np.int64),
        text=np.array(numbers, dtype=np.int64),
        length=np.array(lengths, dtype=np.int64),
        cut_off=np.array([r.truncated is True for r in present], dtype=bool),
        stems=np.array(stems, dtype=np.int64),
    )


def _translations(table: TrialTable) -> list[str]:
    """Return a warning if problems look like translations that count as independent questions."""
    n, c = table.counts()
    number = unlinked_translations(
        [one.language or one.groups.get('language', '') for one in table.problems],
        [one.gold for one in table.problems],
        cluster_names(table.problems),
        ratio(c, n),
    )
    if not number:
        return []
    return [
        f'{number} pairs of problems look like translations of one question, but count as two: '
        'intervals for problems like these are too narrow; give both the same cluster'
    ]


def make_result(
    table: TrialTable,
    protocol: Protocol,
    responses: Sequence[Response],
    *,
    benchmark: str,
    data_version: str,
    judge: str,
    prompt: str,
    judging: Mapping[str, Any] | None = None,
    audit: Mapping[str, Any] | None = None,
    scorer: str = '',
    reasoning: Mapping[str, Any] | None = None,
    intervals: IntervalSettings | None = INTERVALS,
    notes: Sequence[str] = (),
) -> Result:
    """Return the result of one model on one data set.

    The keys of its metrics depend only on the data set and its settings, since OpenCompass's
    summarizer lists every number at its JSON's top level, and stops if two models differ there.

    Args:
        table: The trials.
        protocol: The protocol of the measurement.
        responses: The trials' responses, for the audit and the sampling parameters.
        benchmark: The benchmark's name, by which results are joined.
        data_version: Version of the problems.
        judge: The judge's name in the signature.
        prompt: Hash of the prompts.
        judging: How the verdicts were reached, and their cost.
        audit: What labels say of this judge's verdicts, if it was audited.
        scorer: The name of the reasoning's scorer in the signature, if it was scored.
        reasoning: The description of the scorer and its settings.
        intervals: Settings of the confidence intervals; None for no intervals.
        notes: Warnings to add to those about the responses and the metrics.
    """
    independence = audit_responses(responses)
    sampling, unused = _samplings(responses)
    if all(map(meant_greedy, sampling)):
        protocol = replace(protocol, k=())  # n copies of one response
    values = MetricValues(table, protocol)
    made: dict[str, Any] = {**table_metrics(values), 'schema': SCHEMA, 'benchmark': benchmark}
    made['shares']['identical'] = 100 * independence.identical
    made['shares']['duplicates'] = 100 * independence.duplicates
    if independence.copies:
        made['copies'] = independence.copies
    signature: dict[str, Any] = {
        'package': __version__,
        'data': f'{benchmark}:{data_version}',
        'n': protocol.n,
        **({'k': list(protocol.ks)} if protocol.judged else {}),
        'sampling': sampling[0] if len(sampling) == 1 else {'mixed': len(sampling)},
        'judge': judge,
        'prompt': prompt,
    }
    made['questions'] = values.questions()
    if protocol.judged:
        made['counts'] |= _silent(table, responses)
        made['k'] = list(protocol.ks)
        made['taus'] = [float(tau) for tau in protocol.taus]
        if values.trials.groups:
            signature |= {'complete': protocol.complete, 'collapsed': protocol.collapsed}
        made['judging'] = dict(judging or {})
        made['bounds'] = bounds(values)
        if protocol.ks:
            made['reliable'] = {str(RATE): reliable_counts(attempts(values.trials))}
    if reasoning:
        signature['reasoning'] = scorer
    made['signature'] = signature
    made['tokens'] = token_metrics(values, intervals.level if intervals else None)
    if intervals:
        made |= metric_intervals(values, intervals)
    if protocol.judged:
        made['judge_error'] = judge_error(values, audit or {}, made.get('intervals', {}))
    if reasoning:
        made['reasoning'] = {**reasoning, **_reasoning(values)}
    of_sound = None if protocol.sound is None else values.sound.c
    result = Result.of(made | {'details': problem_rows(table, of_sound)})
    warnings = result_warnings(protocol, result, independence, sampling, unused)
    return result.but(warnings=[*warnings, *_translations(table), *notes])


# What a result keeps that is no function of its protocol.
KEPT = ('copies', 'model', 'columns', 'evaluation', 'rescored')
SILENT, COPIES = ('empty', 'thoughts_only'), ('identical', 'duplicates')


def remake_result(
    result: Result, table: TrialTable, protocol: Protocol, audit: Mapping[str, Any]
) -> Result:
    """Return a result for another k or τ, from its trials alone, without the responses' texts.

    What needs the texts is taken from the result: the counts of silent responses, the shares of
    copies, and the warnings that do not follow from the trials.

    Args:
        result: The result.
        table: Its trials.
        protocol: Its protocol with another k or τ.
        audit: As in :func:`make_result`.
    """
    signature, stored = result.signature, result.as_json()
    responses = [
        Response(
            one.text_hash,
            one.response,
            (one.problem_id, one.replica),
            lost=one.reason if one.lost else '',
            truncated=one.truncated,
            sampling=signature.sampling,
        )
        for one in table.trials
    ]

    def made(protocol: Protocol, intervals: IntervalSettings | None) -> Result:
        return make_result(
            table,
            protocol,
            responses,
            benchmark=result.benchmark,
            data_version=signature.data.removeprefix(f'{result.benchmark}:'),
            judge=signature.judge,
            prompt=signature.prompt,
            judging=stored.get('judging'),
            audit=audit,
            scorer=signature.reasoning,
            reasoning=stored.get('reasoning'),
            intervals=intervals,
        )

    new = made(protocol, stored_intervals(result))
    follow, told = made(result.protocol, None).warnings, result.warnings
    kept = {name: getattr(result, name) for name in KEPT if name in stored}
    return new.but(
        counts=new.counts.model_copy(
            update={
                name: getattr(result.counts, name) for name in SILENT if name in stored['counts']
            }
        ),
        shares=new.shares | {key: result.shares[key] for key in COPIES if key in result.shares},
        warnings=[one for one in told if one not in follow]
        + [one for one in new.warnings if one in told or one not in follow],
        **kept,
    )


def table_metrics(values: MetricValues) -> dict[str, Any]:
    """Return the fields of a result that are computed from its trials alone."""
    metrics = {
        in_group(label, key): mean
        for label, part in values.parts.items()
        for key, mean in values.means(part).items()
    }
    found: dict[str, Any] = {'metrics': metrics, **_counts(values)}
    if values.protocol.judged and (groups := values.trials.groups):
        found['versions'] = _versions(values, groups)
    found['groups'] = {
        label: {**part.fields, 'problems': len(part.members)}
        for label, part in values.parts.items()
        if label
    }
    return found


def _counts(values: MetricValues) -> dict[str, Any]:
    """Return ``counts``, and ``shares``: the coverage and faulty responses, in percent."""
    table, protocol = values.table, values.protocol
    members = values.parts[''].members
    lost = int(table.lost.sum())
    no_answer = sum(one.answer is None and not one.lost for one in table.trials)
    truncated = sum(one.truncated is True for one in table.trials)
    sources = Counter(one.source for one in table.trials)
    undecided, unrecognised = sources[UNDECIDED], sources[UNRECOGNISED]
    judged, correct = int(table.judged.sum()), int(table.correct.sum())
    counts: dict[str, Any] = {
        'problems': len(members),
        'trials': len(table),
        'correct': correct,
        'incorrect': judged - correct,
        'unjudged': len(table) - judged,
        'undecided': undecided,
        'lost': lost,
        'no_answer': no_answer,
        'unrecognised': unrecognised,
        'truncated': truncated,
        'excluded': {str(k): values.undefined(PASS(k=k), members) for k in protocol.ks},
    }
    shares = {
        'coverage': _share(judged - undecided, len(table)),
        'no answer': _share(no_answer, len(table) - lost),
        'unrecognised': _share(unrecognised, len(table)),
        'truncated': _share(truncated, sum(one.truncated is not None for one in table.trials)),
    }
    if not protocol.judged:  # answers were not looked at
        counts = {name: counts[name] for name in ('problems', 'trials', 'lost', 'truncated')}
        shares = {'truncated': shares['truncated']}
    return {'shares': shares, 'counts': counts}


def _silent(table: TrialTable, responses: Sequence[Response]) -> dict[str, int]:
    """Return how many wrong responses say nothing or refuse, and how many the server refused."""
    silent = Counter(
        silence(response.raw) or trial.reason
        for trial, response in zip(table.trials, responses, strict=True)
        if trial.verdict is Verdict.INCORRECT and not trial.truncated
    )
    return {
        'empty': silent[EMPTY],
        'thoughts_only': silent[THOUGHTS_ONLY],
        'refused': silent[REFUSED],
        'filtered': sum(one.lost.startswith('filtered: ') for one in responses),
    }


def _share(count: int, of: int) -> float:
    return 100.0 * count / of if of else math.nan


def _versions(values: MetricValues, groups: VersionGroups) -> dict[str, Any]:
    """Return numbers and settings of the groups of versions, and how many a metric leaves out."""
    protocol = values.protocol
    related = (GROUP_ACCURACY(m=groups.size), CR(), OOR(), SP_ACCURACY())
    judged = values.trials.judged_versions
    unsolved = (judged.n > 0).all(axis=1) & (judged.c == 0).all(axis=1)
    return {
        'per_group': groups.size,
        'groups': len(groups.members),
        'incomplete': groups.incomplete,
        'originals': int((groups.originals >= 0).sum()),
        'excluded': {one.key: values.undefined(one) for one in related},
        'unsolved': {
            label: int(unsolved[groups.within(part.members)].sum())
            for label, part in values.parts.items()
            if part.versions
        },
        'complete': protocol.complete,
        'collapsed': protocol.collapsed,
    }


def _reasoning(values: MetricValues) -> dict[str, Any]:
    """Return the summary of the reasoning for the problems of the headline."""
    members = values.parts[''].members
    among = np.isin(values.table.problem_index, members)
    found = reasoning_summary(values.trials, among, values.protocol.sound)
    if values.protocol.judged:
        found['excluded'] = {
            str(k): values.undefined(PASS(k=k).on(Side.SOUND), members) for k in values.protocol.ks
        }
    return found


def store(path: Path, table: TrialTable, result: Result) -> Result:
    """Write the trials of a result to a file, and return the result with the file's name."""
    stored = result.as_json()
    names = ('benchmark', 'k', 'taus', 'signature')
    write_trials(path, table, {name: stored[name] for name in names if name in stored})
    return result.but(trials_file=path.name)


def _samplings(responses: Sequence[Response]) -> tuple[list[dict[str, Any]], str]:
    """Return the distinct sampling parameters, and the settings that they replaced."""
    distinct: dict[str, dict[str, Any]] = {}
    unused: dict[str, None] = {}  # in order
    for response in responses:
        if response.lost:
            continue
        sampling = dict(response.sampling or {'unknown': True})
        if replaced := sampling.pop(REPLACED, ''):
            unused[str(replaced)] = None
        distinct.setdefault(repr(sorted(sampling.items())), sampling)
    return list(distinct.values()) or [{'unknown': True}], ' or '.join(unused)


def _identity(response: Response) -> tuple[str, int]:
    if response.identity is None:
        raise ValueError(f'{response.location}: the response does not say which problem it answers')
    return response.identity
