"""What a result file says of each problem: how often it was solved, and with which answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opencompass_gpassk.soundness import sound_trials
from opencompass_gpassk.trials import Trial, TrialTable, Verdict

__all__ = ['problem_rows']


def problem_rows(table: TrialTable, sound: float | None = None) -> list[dict[str, object]]:
    """Return n, c and the distinct answers with their counts, for each problem.

    Args:
        table: The trials.
        sound: Least validity of sound reasoning, where it is scored; ``sound`` of a row is then
            how many of the c are sound.
    """
    n, c = table.counts()
    of_sound = None if sound is None else sound_trials(table, sound).counts()[1]
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
            'answers': _answers(trials),
        }
        for index, (problem, trials) in enumerate(
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
    # OpenCompass writes results unescaped, which a lone surrogate of a model would break off.
    return answer and answer.encode('utf-8', 'replace').decode('utf-8')
