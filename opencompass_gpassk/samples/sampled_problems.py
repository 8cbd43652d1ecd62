"""Problems with the responses to them, from one source or joined from several.

Two clusters may each have answered half of the problems, or drawn half of the samples. Joined, they
are one measurement, as if one program had made it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.responses import Identity, Response
from opencompass_gpassk.runs.predictions import Gaps
from opencompass_gpassk.trials import Problem


@dataclass(frozen=True)
class SampledProblems:
    """Problems and the responses to them; each response holds its identity.

    Attributes:
        name: The file's or the data set's name.
        problems: P problems.
        responses: T responses. Those that were planned and are missing have no location.
        model: The model's name, '' if unknown.
        prompts: Whether the questions are the data set's prompts, the same for all models.
        planned: Samples of each problem that the run's config asked for; 0 if unknown.
        gaps: What is missing of them or there twice, in words; '' if nothing.
        missing: Number of the planned responses that are missing.
        drawn_by: Identity of the model, as a run noted it; '' if unknown.
        named: Whether the problems' ids are the data's own, not their places in a file.
        recorded: Whether they are from a run of OpenCompass, whose questions are prompts.
    """

    name: str
    problems: list[Problem]
    responses: list[Response]
    model: str = ''
    prompts: bool = False
    planned: int = 0
    gaps: str = ''
    missing: int = 0
    drawn_by: str = ''
    named: bool = False
    recorded: bool = False

    @property
    def n(self) -> int:
        """The planned number of samples of a problem, or else the greatest one."""
        return self.planned or max(self._counts().values(), default=0)

    @property
    def uneven(self) -> int:
        """Number of problems with fewer than n samples."""
        counts, n = self._counts(), self.n
        return sum(counts[problem.problem_id] < n for problem in self.problems)

    @property
    def versions(self) -> tuple[str, str]:
        """Hashes of data and prompts, equal for models with the same ones; or 'unknown'.

        They don't depend on the order of the problems, which joined files may change. They are
        unknown in a run whose prompts contain a model's template.
        """
        asked = sorted((problem.question, problem.gold) for problem in self.problems)
        if self.recorded:
            data = sorted(gold for _, gold in asked)
        else:
            data = [text for row in asked for text in row]
        prompts = text_hash([question for question, _ in asked])
        return text_hash(data), prompts if self.prompts else 'unknown'

    def _counts(self) -> Counter[str]:
        return Counter(r.identity[0] for r in self.responses if r.identity)


def final_gold(gold: str) -> str:
    """Return the final answer of a gold answer; GSM8K's is a worked solution before ``####``."""
    return gold.rsplit('####', 1)[-1].strip()


def joined(
    parts: Sequence[SampledProblems], report: Callable[[str], None] = lambda told: None
) -> SampledProblems:
    """Join problems and responses of one model, by problem and by key.

    Problems are the same if their ids are equal, or, if a source doesn't name its problems, if
    question and gold answer are. Responses with equal keys are one; those without a key are
    further samples.

    Args:
        parts: The sources, at least one.
        report: Takes a message on what was joined.

    Raises:
        ValueError: If problems of one id differ, or texts of one key do; it names both places.
    """
    if len(parts) == 1 and parts[0].recorded:  # its replicas keep their numbers
        return parts[0]
    named = all(part.named for part in parts)
    problems: dict[Any, Problem] = {}
    places: dict[Any, str] = {}
    draws: dict[Any, dict[object, Response]] = {}  # problem → what names a draw → response
    repeated = 0
    for part in parts:
        keys = _problem_keys(part, by_id=named)
        place = {one.identity[0]: one.location for one in reversed(part.responses) if one.identity}
        for problem in part.problems:
            key = keys[problem.problem_id]
            known = problems.setdefault(key, problem)
            here = place.get(problem.problem_id, part.name)
            places.setdefault(key, here)
            if (known.question, known.gold) != (problem.question, problem.gold):
                raise ValueError(
                    f'problem {problem.problem_id!r} is not the same in {places[key]}, with the '
                    f'gold answer {short_line(known.gold, 60)!r}, and in {here}, with '
                    f'{short_line(problem.gold, 60)!r}; join answers to the same data alone, or '
                    'give each problem its own id'
                )
        for response in part.responses:
            of_problem = draws.setdefault(keys[_problem_id(response)], {})
            draw = response.key or object()  # without a key, each is a draw of its own
            other = of_problem.get(draw)
            if other is None or (other.lost and not response.lost):
                of_problem[draw] = response
            elif not response.lost and other.text != response.text:
                raise ValueError(
                    f'{other.location} and {response.location} have the same key, so they are the '
                    f'same draw for problem {_problem_id(response)!r}, but their texts differ; '
                    'leave one of the two out'
                )
            repeated += other is not None
    if repeated:
        report(f'{counted(repeated, "response")} with the key of another one: each counts once')
    order = list(problems)
    if named and any([one.problem_id for one in part.problems] != order for part in parts):
        order.sort(key=_by_numbers)
    ids = _own_ids([problems[key].problem_id for key in order])
    missing: list[Identity] = []
    responses = []
    for key, own in zip(order, ids, strict=True):
        drawn = _as_drawn(list(draws.get(key, {}).values()))
        missing += [one.identity for one in drawn if one.identity and not one.location]
        responses += [replace(one, identity=(own, i)) for i, one in enumerate(drawn)]
    told = [str(Gaps(len(responses), missing, []))] if missing else []
    models = sorted({part.drawn_by for part in parts} - {''})
    if len(models) > 1:
        told.append(
            f'the configs of the joined runs differ in the model: {" and ".join(models)}; it '
            'should be the same under two names'
        )
    return SampledProblems(
        parts[0].name,
        [replace(problems[key], problem_id=own) for key, own in zip(order, ids, strict=True)],
        responses,
        parts[0].model,
        prompts=all(part.prompts for part in parts),
        gaps='; '.join(told),
        missing=len(missing),
        named=named,
        recorded=parts[0].recorded,
    )


def _problem_id(response: Response) -> str:
    return response.identity[0] if response.identity else ''


def _replica(response: Response) -> int:
    return response.identity[1] if response.identity else 0


def _problem_keys(part: SampledProblems, *, by_id: bool) -> dict[str, Any]:
    """Return problem_id → what a problem is known by: its id, or its text.

    Problems of one text are told apart by their order.
    """
    seen: Counter[tuple[str, str]] = Counter()
    keys: dict[str, Any] = {}
    for problem in part.problems:
        text = problem.question, problem.gold
        keys[problem.problem_id] = problem.problem_id if by_id else (*text, seen[text])
        seen[text] += 1
    return keys


def _by_numbers(problem_id: str) -> list[tuple[int, str]]:
    """Return what sorts ids as data sets order them: ``p2`` before ``p10``."""
    parts = re.split(r'0*([0-9]+)', problem_id)
    return [(len(one) if i % 2 else 0, one) for i, one in enumerate(parts)]


def _own_ids(ids: Sequence[str]) -> list[str]:
    """Return an id for each problem; where sources number their problems alike, another number."""
    taken: dict[str, None] = {}
    for one in ids:
        numbers = map(str, itertools.count(len(taken) + 1))
        taken[next(own for own in itertools.chain([one], numbers) if own not in taken)] = None
    return list(taken)


def _as_drawn(responses: Sequence[Response]) -> list[Response]:
    """Return the responses to a problem in the order of their replicas, if each was drawn once.

    Then what one source lacks is filled by another that has the replica. Sources that drew
    different samples have a replica twice: there nothing is filled, and the order stays.
    """
    found = {_replica(one): one for one in responses if one.location}
    if len(found) < sum(bool(one.location) for one in responses):
        return list(responses)
    lacked = {_replica(one): one for one in responses if not one.location}
    return sorted((lacked | found).values(), key=_replica)
