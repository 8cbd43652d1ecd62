"""Metrics against a sampling parameter, from runs that differ in it; Figure 5 of 2412.13147."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.charts.style import Chart, intervals_told, plot_lines, shown_label
from opencompass_gpassk.results.metric import ACCURACY, G_PASS, PASS
from opencompass_gpassk.results.result import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NUMBER = re.compile(r'\d+(?:\.\d+)?')
OTHERS = ('data', 'judge', 'prompt')  # fields of the signature that must be the same


@dataclass(frozen=True)
class Sweep:
    """Results of one model that differ only in one sampling parameter.

    Attributes:
        parameter: The parameter's name, such as ``temperature``.
        model: The model's name, without the parameter's value.
        fixed: The other parameters.
        entries: (value, entry), sorted by value; at least two.
    """

    parameter: str
    model: str
    fixed: Mapping[str, object]
    entries: Sequence[tuple[float, Entry]]


def sweeps(benchmark: Benchmark) -> list[Sweep]:
    """Return the sweeps among the sampled results of a benchmark.

    A sweep is several data sets of one model, or several models whose names differ only in the
    parameter's value, such as ``m-t0.5`` and ``m-t1.0``. Data, judge, prompt, n and k must be the
    same.
    """
    found: dict[tuple[str, str, str], dict[float, Entry]] = {}
    fixed: dict[tuple[str, str, str], Mapping[str, object]] = {}
    for entry in benchmark.entries:
        signature = entry.result.signature
        sampling = signature.sampling if entry.ks else {}
        for parameter, value in sampling.items():
            known = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not known or not math.isfinite(value):
                continue
            rest = {name: other for name, other in sampling.items() if name != parameter}
            same = [getattr(signature, name) for name in OTHERS]
            rule = json.dumps([rest, same, entry.n, entry.ks], sort_keys=True, default=str)
            # With one value in its name a model would be a sweep of its own.
            for model in dict.fromkeys((entry.model, _without(entry.model, value))):
                key = (parameter, model, rule)
                found.setdefault(key, {}).setdefault(float(value), entry)
                fixed[key] = rest
    return [
        Sweep(key[0], key[1], fixed[key], sorted(entries.items(), key=lambda one: one[0]))
        for key, entries in found.items()
        if len(entries) > 1
    ]


def sweep_chart(benchmark: Benchmark, sweep: Sweep) -> Chart:
    """Return the chart of a sweep, at the greatest k: one line per metric."""
    k, taus = benchmark.ks[-1], benchmark.taus
    middle = [tau for tau in taus if 0.5 <= tau < taus[-1]][:1]
    shown = [ACCURACY(), PASS(k=k), *(G_PASS(k=k, tau=tau) for tau in (*middle, taus[-1]))]
    series = {one.heading: [entry.metric(one) for _, entry in sweep.entries] for one in shown}
    values = [value for value, _ in sweep.entries]
    looks = {name: index for index, name in enumerate(series)}

    def plot(axis: Axes) -> None:
        plot_lines(axis, values, series, looks)
        axis.set(xlabel=shown_label(short_line(sweep.parameter, 40)), ylim=(0, 100))
        axis.set_ylabel('problems (%)')
        axis.set_xticks(values if len(values) <= 8 else values[:: math.ceil(len(values) / 8)])

    rest = ''.join(f', {name} {value}' for name, value in sweep.fixed.items())
    told = f'{benchmark.name}: {sweep.model} by {sweep.parameter}{rest}.'
    told += intervals_told(metric for row in series.values() for metric in row)
    return Chart(f'{benchmark.name}_sweep_{sweep.parameter}_{sweep.model}', told, plot, lines=True)


def _without(model: str, value: float) -> str:
    """Return a model's name with … in place of the value."""
    return NUMBER.sub(lambda found: '…' if float(found[0]) == value else found[0], model)
