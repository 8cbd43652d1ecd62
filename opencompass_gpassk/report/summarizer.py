"""OpenCompass's summarizer interface: reads result files, writes tables and charts."""

from __future__ import annotations

import copy
import io
import logging
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any

import tabulate
from mmengine import ConfigDict
from opencompass.summarizers import DefaultSummarizer
from opencompass.summarizers.default import model_abbr_from_cfg_used_in_summarizer
from opencompass.utils import dataset_abbr_from_cfg, model_abbr_from_cfg

from opencompass_gpassk.datasets.settings import check_name
from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.brief import end_of_job
from opencompass_gpassk.report.cells import BRACKETS, checked_style
from opencompass_gpassk.report.files import (
    MissingMatplotlibError,
    latest_folder,
    write_charts,
    write_report,
)
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import write_page
from opencompass_gpassk.report.stale_results import OF_RESPONSES, differences, told
from opencompass_gpassk.results.read import ModelResult, read_result, without_texts
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.runs.config import planned_run
from opencompass_gpassk.runs.evaluate_again import evaluate_again, evaluates
from opencompass_gpassk.runs.task_states import TaskState, task_states
from opencompass_gpassk.trials import TrialTable

Table = list[list[str]]
PAGE = 'report.html'
PLAIN = (str, int, float)


class GPassKSummarizer(DefaultSummarizer):
    """OpenCompass's own summary, and ours, which is printed when a job has ended.

    It writes ``summary_<time>.*`` as OpenCompass does, and the folder ``latest``: ``gpassk.md``,
    ``.tex``, ``.csv`` and ``.json``, the page ``report.html``, ``figures/`` as PNG and SVG, and
    ``gpassk.txt``, which is what is printed. The folder of an earlier summary gets its time as its
    name. In OpenCompass's table a cell without a metric shows the task's state.

    If several models can be compared, the best metric of each column is marked, and so are those
    that a paired test can't distinguish from it. A sentence says who may be the most stable.

    Args:
        config: The run's config.
        dataset_abbrs: Rows of OpenCompass's table; by default a few metrics of each data set.
        summary_groups: As in ``DefaultSummarizer``.
        prompt_db: As in ``DefaultSummarizer``.
        intervals: How the tables show confidence intervals: ``brackets``; ``±``, half the width,
            which hides that one side may be longer; or None for no intervals.

    Raises:
        ValueError: If the style of intervals is unknown.
    """

    def __init__(
        self,
        config: ConfigDict,
        dataset_abbrs: list[Any] | None = None,
        summary_groups: Sequence[Any] = (),
        prompt_db: Any = None,
        intervals: str | None = BRACKETS,
    ) -> None:
        super().__init__(config, dataset_abbrs, list(summary_groups), prompt_db)
        self.states: dict[tuple[str, str], TaskState] = {}
        self.results: dict[str, dict[str, Result]] = {}
        self.trials: dict[tuple[str, str], TrialTable] = {}
        self.contradictory: dict[tuple[str, str], str] = {}
        self.bad: set[tuple[str, str]] = set()  # results that can't be read
        self.intervals = checked_style(intervals)
        self.table: Table = []  # upstream's

    def summarize(self, output_path: str | None = None, time_str: str | None = None) -> None:
        """Write both summaries, and print ours.

        Args:
            output_path: OpenCompass's summary file, ``summary/summary_<time>.txt`` by default; ours
                is written beside it.
            time_str: The time in file names; by default now.
        """
        time = time_str or datetime.now().strftime('%Y%m%d_%H%M%S')
        path = Path(output_path or Path(self.work_dir, 'summary', f'summary_{time}.txt'))
        states = task_states(planned_run(Path(self.work_dir), self.cfg))
        self.states = {(state.model, state.dataset): state for state in states}
        self.results = self._our_results()
        self._renew()
        refused = self._misnamed()
        level = self.logger.level
        self.logger.setLevel(logging.WARNING)  # three lines say where upstream's table is
        try:
            with redirect_stdout(io.StringIO()):  # where upstream's table is printed twice
                super().summarize(output_path=str(path), time_str=time)
        except Exception as error:  # upstream's table must not cost ours
            self.logger.error(f'OpenCompass made no summary: {type(error).__name__}: {error}')
        finally:
            self.logger.setLevel(level)
        with latest_folder(path.parent) as folder:
            board = Board(self.results, self.trials, self.contradictory)
            tables = write_report(folder, board, states, self.intervals)
            page = path.parent / 'latest' / self._write_page(folder)
            self._write_charts(folder / 'figures', board)
            run = Path(self.work_dir)
            text = end_of_job(
                tables,
                self.results,
                states,
                run,
                page,
                intervals=self.intervals,
                others=self._others(),
            )
            (folder / 'gpassk.txt').write_text(text, encoding='utf-8')
        print(text, end='')
        if refused:
            raise ValueError(refused)

    def _renew(self) -> None:
        """Make results of other settings again, if OpenCompass evaluates; name the others."""
        differing = self._differing()
        stale = {
            pair: found for pair, found in differing.items() if not OF_RESPONSES & found.keys()
        }
        if stale and evaluates(self.cfg):
            for (name, abbr), found in stale.items():
                self.logger.warning(f'{name}/{abbr} is evaluated again: {told(found)}')
            configs = [
                (model, dataset)
                for model in self.model_cfgs
                for dataset in self.dataset_cfgs
                if (model_abbr_from_cfg_used_in_summarizer(model), dataset_abbr_from_cfg(dataset))
                in stale
            ]
            try:
                evaluate_again(self.cfg, configs)
            except Exception as error:  # a runner or partitioner may raise anything
                self.logger.error(f'not evaluated again: {type(error).__name__}: {error}')
            self.trials.clear()
            self.contradictory.clear()
            self.results = self._our_results()
            differing = self._differing()
        for (name, abbr), different in differing.items():
            result = self.results[name][abbr]
            warnings = [told(different), *result.warnings]
            self.results[name][abbr] = result.but(warnings=warnings)
            self.logger.warning(f'{name}/{abbr}: {told(different)}')

    def _differing(self) -> dict[tuple[str, str], dict[str, tuple[Any, Any]]]:
        configs = {dataset_abbr_from_cfg(one): one for one in self.dataset_cfgs}
        found = {
            (name, abbr): differences(configs[abbr], result, self.trials.get((name, abbr)))
            for name, of_model in self.results.items()
            for abbr, result in of_model.items()
        }
        return {pair: different for pair, different in found.items() if different}

    def _misnamed(self) -> str:
        """Return which of our data sets say another n by their name; '' if none does."""
        faults = []
        for dataset in self.dataset_cfgs:
            ours = any(dataset_abbr_from_cfg(dataset) in one for one in self.results.values())
            if ours and 'n' in dataset:
                try:
                    check_name(dataset_abbr_from_cfg(dataset), dataset['n'])
                except ValueError as error:
                    faults.append(str(error))
        return '; '.join(faults)

    def _write_page(self, folder: Path) -> str:
        """Write the report page and return its name, or that of the tables if it can't be made."""
        try:
            write_page(folder / PAGE, page_data([Path(self.work_dir)]))
            return PAGE
        except Exception as error:  # the page reads files that anything may have written
            self.logger.warning(f'no report page: {type(error).__name__}: {error}')
            return 'gpassk.md'

    def _write_charts(self, folder: Path, board: Board) -> None:
        try:
            write_charts(folder, board)
        except MissingMatplotlibError as error:
            self.logger.warning(str(error))
        except Exception as error:  # a bad result must not cost the tables
            self.logger.warning(f'some charts are missing: {type(error).__name__}: {error}')

    def _others(self) -> str:
        """Return upstream's table of what ours don't show: other evaluators, and what was asked."""
        ours = {dataset for by_dataset in self.results.values() for dataset in by_dataset}
        head, *rows = self.table or [[]]
        shown = [
            list(map(one_line, row))
            for row in rows
            if (self.dataset_abbrs or row[0] not in ours)
            and any(map(str.isdigit, ''.join(row[4:])))
        ]
        if not shown:
            return ''
        return tabulate.tabulate([head, *shown], headers='firstrow', floatfmt='.2f')

    def _our_results(self) -> dict[str, dict[str, Result]]:
        """Return model → data set → result of our evaluator, in the order of the config."""
        results: dict[str, dict[str, Result]] = {}
        for model in self.model_cfgs:
            name = model_abbr_from_cfg_used_in_summarizer(model)
            of_model = results.setdefault(name, {})
            for dataset in self.dataset_cfgs:
                abbr = dataset_abbr_from_cfg(dataset)
                path = Path(self.work_dir, 'results', model_abbr_from_cfg(model), f'{abbr}.json')
                try:
                    result = read_result(path)
                except FileNotFoundError:
                    continue  # the task's state shows why
                except ValueError as error:
                    self.logger.error(f'left out of the tables: {error}')
                    self.bad.add((name, abbr))
                    continue
                if isinstance(result, Result):
                    of_model[abbr] = result.but(details=[])  # they take the most memory
                    try:
                        found = ModelResult(name, abbr, result, path)
                        table = found.table()
                        self.contradictory[name, abbr] = found.contradiction(table)
                        self.trials[name, abbr] = without_texts(table)
                    except ValueError as error:
                        self.logger.warning(str(error))
        return results

    def _pick_up_results(self) -> tuple[dict, dict, dict, dict]:
        """Read each result by itself, ours as they were read for our tables.

        Upstream fails at a damaged file, and if two models' results have different metrics.
        """
        raw: dict[str, dict[str, Any]] = {name: {} for name in self.model_abbrs}
        parsed: dict[str, dict[str, dict[str, float]]] = {name: {} for name in self.model_abbrs}
        metrics: dict[str, list[str]] = {}
        modes: dict[str, str] = {}
        for model in self.model_cfgs:
            for dataset in self.dataset_cfgs:
                reader = copy.copy(self)
                bad = model_abbr_from_cfg_used_in_summarizer(model), dataset_abbr_from_cfg(dataset)
                reader.model_cfgs = [] if bad in self.bad else [model]
                reader.dataset_cfgs = [dataset]
                try:
                    one_raw, one_parsed, one_metrics, mode = DefaultSummarizer._pick_up_results(
                        reader
                    )
                except Exception as error:  # another evaluator's file may hold anything
                    self.logger.warning(
                        f'{dataset_abbr_from_cfg(dataset)}: its result is left out of the summary: '
                        f'{type(error).__name__}: {error}'
                    )
                    continue
                modes |= mode
                for name in one_parsed:
                    for abbr, result in one_raw[name].items():  # no lists, no tables
                        raw[name][abbr] = {k: v for k, v in result.items() if isinstance(v, PLAIN)}
                    parsed[name] |= one_parsed[name]
                    for abbr in one_raw[name].keys() & self.results.get(name, {}).keys():
                        found = self._metrics(self.results[name][abbr])
                        shown = self._headline(abbr, list(found))
                        raw[name][abbr] = {key: found[key] for key in shown}
                        parsed[name][abbr], one_metrics[abbr] = found, list(found)
                for abbr, names in one_metrics.items():
                    known = metrics.setdefault(abbr, [])
                    known += [name for name in names if name not in known]
        for by_dataset in parsed.values():
            for abbr, of_data_set in by_dataset.items():
                for name in metrics[abbr]:
                    of_data_set.setdefault(name, float('nan'))
        return raw, parsed, metrics, modes

    def _format_table(
        self,
        parsed_results: dict,
        dataset_metrics: dict,
        dataset_eval_mode: dict,
        required_dataset_abbrs: list[Any] | None = None,
        skip_all_slash: bool = False,
    ) -> Table:
        """List a few metrics of our data sets, and the state of tasks without metrics."""
        if required_dataset_abbrs is None:
            dataset_metrics = {
                abbr: self._headline(abbr, names) for abbr, names in dataset_metrics.items()
            }
        table: Table = super()._format_table(
            parsed_results,
            dataset_metrics,
            dataset_eval_mode,
            required_dataset_abbrs,
            skip_all_slash,
        )
        for row in table[1:]:
            for column, model in enumerate(self.model_abbrs, start=4):
                if row[column] == '-':
                    row[column] = self._missing(model, row[0])
                elif row[column] == 'nan':
                    row[column] = '–'
        self.table = table
        return table

    def _headline(self, dataset: str, names: list[str]) -> list[str]:
        """Return the few metrics of a data set that OpenCompass's table lists."""
        result = next((r[dataset] for r in self.results.values() if dataset in r), None)
        if result is None:
            return names
        return [one.key for one in result.headline() if one.key in names]

    @staticmethod
    def _metrics(result: Result) -> dict[str, float]:
        """Return all metrics of a result, those that upstream's summarizer would list first."""
        listed = [one.key for one in result.measured() if one.in_summary]
        keys = dict.fromkeys((*listed, *result.metrics))
        return {key: result.metrics[key] for key in keys}

    def _missing(self, name: str, dataset: str) -> str:
        """Return the text of a cell without a metric: the task's state."""
        states = [
            self.states[key]
            for model in self.model_cfgs
            if model_abbr_from_cfg_used_in_summarizer(model) == name
            and (key := (model_abbr_from_cfg(model), dataset)) in self.states
        ]
        return states[0].state.value if states else '-'
