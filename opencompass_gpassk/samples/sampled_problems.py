"""Problems with the responses to them, from one source or joined from several.

Two clusters may each have answered half of the problems, or drawn half of the samples. Joined, they
are one measurement, as if one program had made it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opencompass_gpassk.answers.check import accepted
from opencompass_gpassk.answers.reader import stated
from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.responses import Identity, Response
from opencompass_gpassk.runs.predictions import Gaps
from opencompass_gpassk.samples.log_files import Stated
from opencompass_gpassk.trials import Problem

# How a gold answer begins that is announced: 正确答案:D。, The answer is 72.
ANNOUNCED = re.compile(
    r'\W*(?:the\s)?\W*(?:(?:correct|final|right)\s)?answer\W|\W*(?:正确|参考|标准)?答案',
    re.IGNORECASE,
)


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
        named: Whether the problems' ids are the data's own, not their places in a file.
        recorded: Whether they are from a run of OpenCompass, whose questions are prompts.
        path: The file or the run.
        stated: What it says of itself.
        prompt_hashes: Problem → hash of its whole prompt, where that is more than the question.
    """

    name: str
    problems: list[Problem]
    responses: list[Response]
    model: str = ''
    prompts: bool = False
    planned: int = 0
    gaps: str = ''
    missing: int = 0
    named: bool = False
    recorded: bool = False
    path: str = ''
    stated: Stated = field(default_factory=Stated)
    prompt_hashes: Mapping[str, str] = field(default_factory=dict)

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


def final_gold(golds: Sequence[str]) -> str:
    """Return the final answer of a gold answer, or of several of which any is right.

    GSM8K's is a worked solution before ``####``; others announce it, as a response does.
    """
    finals = [gold.rsplit('####', 1)[-1].strip() for gold in golds]
    read = [stated(one) or one if ANNOUNCED.match(one) else one for one in finals]
    return accepted(list(dict.fromkeys(filter(None, read))) or [''])


def joined(
    parts: Sequence[SampledProblems],
    report: Callable[[str], None] = lambda told: None,
    *,
    anyway: bool = False,
) -> SampledProblems:
    """Join problems and responses of one model, by problem and by key.

    Problems are the same if their ids are equal, or, if a source doesn't name its problems, if
    question and gold answer are. Responses with equal keys are one; those without a key are
    further samples, unless their texts in order repeat those of another source: these are copies.

    Args:
        parts: The sources, at least one.
        report: Takes a message on what was joined.
        anyway: Join sources that differ in how they were drawn, and name it in a warning.

    Raises:
        ValueError: If problems of one id differ, or texts of one key do; it names both places. If
            sources differ in their protocol; it names the fields.
    """
    if len(parts) == 1 and parts[0].recorded:  # its replicas keep their numbers
        return parts[0]
    named = all(part.named for part in parts)
    keys = [_problem_keys(part, by_id=named) for part in parts]
    told = [
        f'{part.path}: {one}' if len(parts) > 1 else one
        for part in parts
        for one in part.stated.warnings
    ]
    if different := _different(parts, keys):
        if not anyway:
            raise ValueError(
                f'{different}; this is not one measurement. Score them one by one, or add '
                '--join-anyway'
            )
        told.append(f'joined by --join-anyway, though {different}')
    problems: dict[Any, Problem] = {}
    places: dict[Any, str] = {}
    draws: dict[Any, dict[object, Response]] = {}  # problem → what names a draw → response
    repeated = 0
    for part, of_part in zip(parts, keys, strict=True):
        place = {one.identity[0]: one.location for one in reversed(part.responses) if one.identity}
        for problem in part.problems:
            key = of_part[problem.problem_id]
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
        if copies := _copies(part, of_part, draws):
            told.append(
                f'{part.path}: {counted(len(copies), "response")} repeat those of another file: '
                'each counts once'
            )
            report(told[-1])
        for response in (one for one in part.responses if one.identity not in copies):
            own, _ = response.identity or ('', 0)
            of_problem = draws.setdefault(of_part[own], {})
            draw = response.key or object()  # without a key, each is a draw of its own
            other = of_problem.get(draw)
            if other is None or (other.lost and not response.lost):
                of_problem[draw] = response
            elif not response.lost and other.text != response.text:
                raise ValueError(
                    f'{other.location} and {response.location} have the same key, so they are the '
                    f'same draw for problem {own!r}, but their texts differ; '
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
    whole = SampledProblems(
        parts[0].name,
        [replace(problems[key], problem_id=own) for key, own in zip(order, ids, strict=True)],
        responses,
        parts[0].model,
        prompts=all(part.prompts for part in parts),
        gaps=str(Gaps(len(responses), missing, [])) if missing and parts[0].recorded else '',
        missing=len(missing),
        named=named,
        recorded=parts[0].recorded,
        stated=Stated(
            warnings=told,
            ids=list(dict.fromkeys(own for part in parts for own in part.stated.ids)),
            problems=max(part.stated.problems for part in parts),
        ),
    )
    return whole if whole.recorded else _with_absent(whole)


def _different(parts: Sequence[SampledProblems], keys: Sequence[Mapping[str, Any]]) -> str:
    """Return in which fields sources differ that both state how they were drawn; '' if in none."""
    stated: dict[object, tuple[str, Any]] = {}
    found: dict[str, str] = {}
    for part, of_part in zip(parts, keys, strict=True):
        model = {'model': part.stated.model} if part.stated.model else {}
        told = [(name, '', one) for name, one in {**model, **part.stated.protocol}.items()]
        asked = [('prompt', of_part[own], one) for own, one in part.prompt_hashes.items()]
        for name, of, value in told + asked:
            path, other = stated.setdefault((name, of), (part.path, value))
            if other != value:
                shown = [short_line(str(one), 60) for one in (other, value)]
                found.setdefault(name, f'{name} ({shown[0]} in {path}, {shown[1]} in {part.path})')
    return f'the logs differ in {", ".join(found.values())}' if found else ''


def _copies(
    part: SampledProblems, keys: Mapping[str, Any], known: Mapping[Any, Mapping[object, Response]]
) -> set[Identity]:
    """Return those of a source's responses without a key that other sources have in this order.

    For chance not to make copies of draws, they are so only if this holds for all problems that
    are known: of each the texts of one side are among those of the other, in order.
    """
    own: dict[Any, list[Response]] = {}
    for response in part.responses:
        if response.identity and response.location and not response.key:
            own.setdefault(keys[response.identity[0]], []).append(response)
    copies: set[Identity] = set()
    for key in own.keys() & known.keys():
        texts = [one.text for one in known[key].values() if one.location and not one.key]
        again = [one.text for one in own[key]]
        shorter, longer = sorted((again, texts), key=len)
        if -1 in (places := _places_in_order(shorter, longer)):
            return set()
        same = own[key] if shorter is again else [own[key][at] for at in places]
        copies |= {one.identity for one in same if one.identity}
    return copies


def _places_in_order(texts: Sequence[str], among: Sequence[str]) -> list[int]:
    """Return the places of texts that follow one another among others; -1 of one that doesn't."""
    rest = iter(enumerate(among))
    return [next((at for at, other in rest if other == text), -1) for text in texts]


def _with_absent(sampled: SampledProblems) -> SampledProblems:
    """Add the problems that the logs planned and lack, and say how many samples are lost."""
    known = {problem.problem_id: problem for problem in sampled.problems}
    lacking = max(0, sampled.stated.problems - len(known))
    numbers = map(str, range('0' not in known, 2 * (len(known) + lacking)))
    ids = dict.fromkeys([*sampled.stated.ids, *numbers])
    absent = [own for own in ids if own not in known][:lacking]
    lost = [
        Response('', '', (own, i), lost='none to its problem is in the log')
        for own in absent
        for i in range(sampled.n)
    ]
    responses = sampled.responses + lost
    why = Counter(one.lost for one in responses if one.lost)
    told = [f'{counted(count, "sample")} lost: {reason}' for reason, count in why.items()]
    return replace(
        sampled,
        problems=sampled.problems + [Problem(own) for own in absent],
        responses=responses,
        stated=replace(sampled.stated, warnings=[*sampled.stated.warnings, *told]),
    )


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


def _replica(response: Response) -> int:
    return response.identity[1] if response.identity else 0
