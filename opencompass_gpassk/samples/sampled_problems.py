"""Problems with the responses to them, from one source or joined from several.

Two clusters may each have answered half of the problems, or drawn half of the samples. Joined, they
are one measurement, as if one program had made it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.hashing import stable_hash, text_hash
from opencompass_gpassk.runs.predictions import Response
from opencompass_gpassk.trials import Problem

__all__ = ['SampledProblems', 'final_gold', 'joined']


@dataclass(frozen=True)
class SampledProblems:
    """Problems and the responses to them; each response holds its identity.

    Attributes:
        name: The file's or the data set's name.
        problems: P problems.
        responses: T responses. A key in a response's record names its draw: two responses to one
            problem with equal keys are the same draw.
        model: The model's name, '' if unknown.
        prompts: Whether the questions are the data set's prompts, the same for all models.
        planned: Samples of each problem that the run's config asked for; 0 if unknown.
        gaps: What is missing of them or there twice, in words; '' if nothing.
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

        They are unknown in a run whose prompts contain a model's template.
        """
        questions = [problem.question for problem in self.problems]
        golds = [problem.gold for problem in self.problems]
        data = (
            golds
            if self.recorded
            else [text for row in zip(questions, golds, strict=True) for text in row]
        )
        return text_hash(data), text_hash(questions) if self.prompts else 'unknown'

    def _counts(self) -> Counter[str]:
        return Counter(r.identity[0] for r in self.responses if r.identity)


def final_gold(gold: str) -> str:
    """Return the final answer of a gold answer; GSM8K's is a worked solution before ``####``."""
    return gold.rsplit('####', 1)[-1].strip()


def joined(parts: Sequence[SampledProblems]) -> SampledProblems:
    """Join problems and responses of one model, by problem and by key.

    Problems are the same if their ids are equal, or, if a source doesn't name its problems, if
    question and gold answer are. Responses with equal keys are one. Others are further samples.

    Args:
        parts: The sources, at least one.

    Raises:
        ValueError: If problems of one id differ, or texts of one key do; it names both places.
    """
    if len(parts) == 1:
        return parts[0]
    named = all(part.named for part in parts)
    problems: dict[object, Problem] = {}
    places: dict[object, str] = {}
    ids: set[str] = set()
    drawn: dict[str, dict[str, Response]] = {}  # problem → key → response
    again = 0
    for part in parts:
        key_of: dict[str, object] = {}
        seen: Counter[tuple[str, str]] = Counter()
        for problem in part.problems:
            text = problem.question, problem.gold
            key: object = problem.problem_id if named else (*text, seen[text])
            seen[text] += 1
            key_of[problem.problem_id] = key
            known = problems.get(key)
            if known is None:
                numbers = map(str, itertools.count(len(ids) + 1))
                named_so = itertools.chain([problem.problem_id], numbers)
                own = next(one for one in named_so if one not in ids)
                ids.add(own)
                problems[key] = replace(problem, problem_id=own)
                places[key] = part.name
            elif (known.question, known.gold) != text:
                raise ValueError(
                    f'problem {problem.problem_id!r} has the gold answer '
                    f'{short_line(known.gold, 60)!r} in {places[key]}, and '
                    f'{short_line(problem.gold, 60)!r} in {part.name}, or another question; join '
                    'files of the same data alone'
                )
        for place, response in enumerate(part.responses):
            problem_id, replica = response.identity or ('', 0)
            of_problem = drawn.setdefault(problems[key_of[problem_id]].problem_id, {})
            draw = _key(response, replica) or f'{part.name}#{len(of_problem)}.{place}'
            other = of_problem.get(draw)
            if other is None or (other.lost and not response.lost):
                of_problem[draw] = response
            elif not response.lost and other.text != response.text:
                raise ValueError(
                    f'problem {problem_id!r}: {other.location} and {response.location} are the '
                    'same draw by their key, but differ; leave one of the two files out'
                )
            again += other is not None
    return SampledProblems(
        parts[0].name,
        list(problems.values()),
        [
            replace(response, identity=(problem_id, number))
            for problem_id, of_problem in drawn.items()
            for number, response in enumerate(_present(list(of_problem.values())))
        ],
        parts[0].model,
        prompts=all(part.prompts for part in parts),
        gaps='; '.join(filter(None, [*(part.gaps for part in parts), _told(parts, again)])),
        named=named,
        recorded=any(part.recorded for part in parts),
    )


def _key(response: Response, replica: int) -> str:
    """Return what names a response's draw; '' if nothing does.

    Runs of earlier versions noted no key: there equal texts of one replica are one draw.
    """
    if key := response.record.get('key'):
        return f'key {key}'
    if 'replica' in response.record:
        return f'{replica} {stable_hash(response.text)}'
    return ''


def _present(responses: list[Response]) -> list[Response]:
    """Leave out as many responses without any record as there are others that may replace them."""
    found = [one for one in responses if one.location]
    missing = [one for one in responses if not one.location]
    replicas = {one.identity for one in found}
    return found + [one for one in missing if one.identity not in replicas]


def _told(parts: Sequence[SampledProblems], again: int) -> str:
    models = {str(r.record['model']) for p in parts for r in p.responses if 'model' in r.record}
    told = [f'joined from {len(parts)} sources']
    if again:
        told.append(f'{again} responses that were there twice count once')
    if len(models) > 1:
        names = ' and '.join(short_line(name, 100) for name in sorted(models)[:3])
        told.append(f'their configs name the models {names}')
    return '; '.join(told)
