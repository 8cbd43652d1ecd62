"""Notes for reading a benchmark's metrics: warnings, exclusions, caveats."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from opencompass_gpassk.compare.comparability import SERIOUS, UNKNOWN, setting
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.results.metric import G_PASS, MG_PASS, PASS, parse_metric
from opencompass_gpassk.results.result import Result, Results
from opencompass_gpassk.results.true_verdicts import ERRORS

UNDECIDED_INCORRECT = 'rule:undecided-incorrect'  # the judge in the signature
# Notes on a benchmark that hold for any result.
MOSTLY = 50.0  # percent of the problems
GENERATED = re.compile(r'^RV-.*:\d+:seed-?\d+:\d+:')
OWN_QUESTIONS = (
    'questions of this package, made like those of RV-Bench (arXiv 2501.11790), but not the same; '
    'no published metric can be compared with these'
)
CAVEATS = {
    'sample': (
        'demonstration problems written for this package, not LiveMathBench; '
        'no published metric can be compared with these'
    ),
    'AIME2024-30': (
        'the 30 problems of AIME 2024, since the list of 45 is not published; '
        'published metrics of AIME2024-45 cannot be compared with these'
    ),
    'AIME2024-45': ('your own list; the list of the published metrics is unknown and may differ'),
}


def benchmark_notes(benchmark: Benchmark) -> list[str]:
    """Return the warnings on all metrics of a benchmark, the most important first."""
    results = [result for entry in benchmark.entries for result in entry.results]
    different = serious_notes(benchmark)
    apart = dict.fromkeys(note for result in results for note in incomparable(result))
    labelled = _hardly_audited(benchmark)
    return [*different, *_warnings(benchmark), *labelled, *apart]


def serious_notes(benchmark: Benchmark) -> list[str]:
    """Return why the models of a benchmark can't be compared with one another."""
    results = [result for entry in benchmark.entries for result in entry.results]
    notes = []
    for key, name in SERIOUS.items():
        values = dict.fromkeys(setting(result, key) for result in results)
        values.pop(UNKNOWN, None)
        if len(values) > 1:
            told = ' and '.join(values)
            notes.append(f"the results are of different {name}: {told}; don't compare them")
    return notes


def incomparable(result: Result) -> list[str]:
    """Return why published metrics can't be compared with those of a result."""
    name = result.benchmark
    # A part of a benchmark, such as sample-en, has its caveat.
    notes = [note for key, note in CAVEATS.items() if f'{name}-'.startswith(f'{key}-')]
    # The data's version has a seed if this package generated the problems.
    generated = GENERATED.search(result.signature.data)
    return [*notes, *([OWN_QUESTIONS] if generated else [])]


def undecided_note(results: Results) -> list[str]:
    """Return a note on the results in which answers that no rule could decide count as wrong."""
    found = [
        f'{model} on {dataset}'
        for model, by_dataset in results.items()
        for dataset, result in by_dataset.items()
        if result.signature.judge == UNDECIDED_INCORRECT
    ]
    told = 'answers that the rules could not decide count as wrong'
    return [f'{told}: {", ".join(found)}'] if found else []


def threshold_notes(benchmark: Benchmark, k: int) -> list[str]:
    """Return the notes on the metrics at k."""
    notes = []
    entries = [entry for entry in benchmark.entries if k in entry.ks]
    if k % 2:
        best = 'a perfect model scores 0' if k == 1 else f'{100 * (k - 1) / k:.1f} is the maximum'
        notes.append(f'{MG_PASS(k=k).heading}: {best}, since k is odd (the published definition)')
    groups = {group for entry in entries for group in ('', *entry.groups)}
    metrics = [entry.metric(PASS(k=k), group) for entry in entries for group in groups]
    if any(value is not None and math.isnan(value) for value in metrics):
        notes.append(f'–: undefined, no problem has {k} samples and a verdict')
    return notes


def _warnings(benchmark: Benchmark) -> list[str]:
    """Return each warning once, with the models that it concerns, unless it concerns all."""
    sampled = {e.label: e.result.warnings for e in benchmark.entries if e.sampled}
    greedy = {e.label: e.greedy.warnings for e in benchmark.entries if e.greedy}
    return told_once(sampled) + [f'greedy: {text}' for text in told_once(greedy)]


def _hardly_audited(benchmark: Benchmark) -> list[str]:
    """Return a warning on audited models that solve most problems always."""
    metric = G_PASS(k=max(benchmark.ks, default=1), tau=1.0)
    strong = [
        entry.label
        for entry in benchmark.entries
        if (true := entry.true_metrics.get(metric.key)) and true.estimate >= MOSTLY
    ]
    told = (
        'most problems are solved always, and there labels hardly tell wrong verdicts from rare '
        'failures: in simulations with 200 labels the range due to verdicts held the truth in only '
        '78 to 89 % of cases'
    )
    return [f'{", ".join(strong)}: {told}'] if strong else []


def told_once(texts: Mapping[str, Iterable[str]]) -> list[str]:
    """Return each text once, with the names of its models unless it concerns all.

    Args:
        texts: Model → its texts.
    """
    concerned: dict[str, list[str]] = {}
    for label, of_model in texts.items():
        for text in dict.fromkeys(of_model):
            concerned.setdefault(text, []).append(label)
    return [
        text if len(labels) == len(texts) else f'{", ".join(labels)}: {text}'
        for text, labels in concerned.items()
    ]


def sensitivity_notes(benchmark: Benchmark) -> list[str]:
    """Return what wrong verdicts would change at most, for results without an audit."""
    changes: dict[str, float] = {}
    headings = set()
    for entry in benchmark.entries:
        told = entry.result.judge_error
        if not (entry.sampled and told.sensitivity) or told.metrics:
            continue
        metric = parse_metric(told.sensitivity.metric).of_n(entry.n)
        recorded = entry.metric(metric)
        for error in ERRORS:
            rate, value = max(told.sensitivity.rates[error].items(), key=lambda of: of[0])
            change = math.nan if recorded is None else abs(value - recorded)
            if not math.isnan(change):
                name = f'{rate} % of {error}'
                changes[name] = max(change, changes.get(name, 0.0))
                headings.add(metric.heading)
    if not changes:
        return []
    points = ' or '.join(f'{change:.1f} points ({name})' for name, change in changes.items())
    names = ' or '.join(sorted(headings))
    return [f'independent errors of verdicts would change {names} by up to {points}']
