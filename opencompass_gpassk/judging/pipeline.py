"""From answers to verdicts: people, rules, the store and a judge are consulted, in this order.

Identical (question, gold, answer) triples are judged once, over all replicas of all problems. Each
reply of the judge is stored as soon as it arrives. Answers without a verdict stay unjudged.
"""

from __future__ import annotations

import itertools
import random
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.answers.speech import ending, spoken
from opencompass_gpassk.datasets.language import language_of
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.progress_bar import with_progress
from opencompass_gpassk.formats.shared_store import StoreError
from opencompass_gpassk.inference.server_replies import Reply
from opencompass_gpassk.judging.judge import (
    Asker,
    Candidate,
    Judge,
    JudgeError,
    JudgeIdentity,
    Ledger,
    ReadReply,
    make_judge,
)
from opencompass_gpassk.judging.prompt import BUILT_IN, Prompt, Triple
from opencompass_gpassk.judging.rules import (
    final_answer,
    judge_answers,
    reason_counts,
    without_answer,
)
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.verdict import INVALID, MENUS, Judgement, Reading, read_verdict
from opencompass_gpassk.judging.verdict_store import StoredVerdict, VerdictStore
from opencompass_gpassk.responses import Response
from opencompass_gpassk.trials import OPEN, PEOPLE, Problem, Verdict

LANGUAGES = ('en', 'cn')
MOST_PROMPTS = 30  # of a judge in the store, since every pair of prompts is tried


class PromptedJudge:
    """A judge with its prompts in both languages, the menu of its verdicts, and their store.

    Args:
        judge: The judge.
        settings: Its settings, with prompt and menu.
        store: Keeps verdicts as soon as they arrive; None keeps none.

    Raises:
        ValueError: If the prompt can't be read.
    """

    def __init__(
        self, judge: Judge, settings: JudgeSettings, store: VerdictStore | None = None
    ) -> None:
        self.judge = judge
        self.store = store
        self.menu = settings.menu
        self.readable = False  # whether it gave a verdict from the menu
        self._decoding = {**judge.settings, 'menu': settings.menu}
        self._policy = settings.policy
        self._most_tokens = settings.max_tokens
        self.prompts = (
            self._recorded_prompts(settings)
            if settings.recorded
            else {name: Prompt.load(settings.prompt, name) for name in LANGUAGES}
        )
        self.identities = self._identities(self.prompts)
        # A hash of all that verdicts depend on besides the mode.
        self.name = self._name(self.identities)

    def _name(self, identities: Mapping[str, JudgeIdentity]) -> str:
        digest = stable_hash([identity.digest for identity in identities.values()])
        return stable_hash([digest, self._policy])[:8]

    def _identities(self, prompts: Mapping[str, Prompt]) -> dict[str, JudgeIdentity]:
        return {
            name: JudgeIdentity(self.judge.model, prompt.text, self._decoding)
            for name, prompt in prompts.items()
        }

    def _recorded_prompts(self, settings: JudgeSettings) -> dict[str, Prompt]:
        """Return the prompts of an earlier judging from the store: those that match its name."""
        known = self.store.judges() if self.store else []
        texts = [
            one.prompt
            for one in known
            if one.model == self.judge.model and dict(one.settings) == self._decoding
        ][:MOST_PROMPTS]
        built_in = settings.prompt in BUILT_IN
        own = {name: Prompt.load(settings.prompt, name) for name in LANGUAGES} if built_in else {}
        texts += [prompt.text for prompt in own.values()]
        for pair in itertools.product(map(Prompt, dict.fromkeys(texts)), repeat=len(LANGUAGES)):
            prompts = dict(zip(LANGUAGES, pair, strict=True))
            if settings.recorded.endswith(self._name(self._identities(prompts))):
                return prompts
        return own or dict.fromkeys(LANGUAGES, Prompt(''))

    def recall(self, cases: Mapping[Triple, Candidate], ledger: Ledger) -> dict[Triple, Judgement]:
        """Return this judge's stored verdicts on triples; the ledger counts their tokens."""
        if self.store is None:
            return {}
        found: dict[Triple, StoredVerdict] = {}
        for name, identity in self.identities.items():
            found |= self.store.get(identity, [t for t in cases if _language(cases[t]) == name])
        self.readable |= any(said.verdict is not Verdict.UNJUDGED for said in found.values())
        ledger.kept_prompt_tokens += sum(said.prompt_tokens for said in found.values())
        ledger.kept_completion_tokens += sum(said.completion_tokens for said in found.values())
        return {t: _judgement_of(cases[t], said, 'judge') for t, said in found.items()}

    def plan(self, cases: Mapping[Triple, Candidate]) -> str:
        """Return how many answers will be asked about, and about how many tokens that takes."""
        tokens = sum(
            about_tokens(self.prompts[_language(case)].fill(triple))
            for triple, case in cases.items()
        )
        return (
            f'judge: {len(cases)} calls to make, with about {tokens} prompt tokens and at most '
            f'{self._most_tokens} tokens a reply'
        )

    def ask(
        self, cases: Mapping[Triple, Candidate], ledger: Ledger, *, progress: bool = False
    ) -> dict[Triple, Judgement]:
        """Ask about triples, each with one of its candidates; return a judgement for each.

        Processes that share a store ask in random order, and look into it just before asking, so
        that they rarely ask about the same triple.

        Raises:
            JudgeError: If the judge can't be asked at all, or gives no readable verdict; its
                earlier verdicts are in the store.
        """
        judgements: dict[Triple, Judgement] = {}

        def jobs() -> Iterator[tuple[Triple, str | None]]:
            for triple in random.sample(list(cases), len(cases)):
                known = self.recall({triple: cases[triple]}, ledger)
                judgements.update(known)
                ledger.saved['store'] += len(known)
                prompt = self.prompts[_language(cases[triple])]
                yield triple, None if known else prompt.fill(triple)

        def deliver(triple: Triple, answer: ReadReply[Reading]) -> None:
            verdict, reason = answer.found or (Verdict.UNJUDGED, answer.reason)
            reply = answer.reply or Reply('')
            given = StoredVerdict(
                verdict, reason, reply.text, reply.prompt_tokens, reply.completion_tokens
            )
            if not answer.passing and self.store is not None:
                # Another process may have stored one meanwhile.
                identity = self.identities[_language(cases[triple])]
                given = self.store.put(identity, triple, given)
            judgement = _judgement_of(cases[triple], given, 'judge')
            judgements[triple] = replace(judgement, passing=answer.passing)

        asker = Asker(
            self.judge,
            lambda triple, text: read_verdict(text, MENUS[self.menu]),
            deliver,
            ledger,
            remedy=(
                f'menu {self.menu!r} expects {MENUS[self.menu].expects}; set prompt and menu of '
                "judge to this model's own"
            ),
            readable=self.readable,
        )
        asker.ask(jobs(), len(cases), progress=progress)
        self.readable |= asker.readable
        return judgements


def about_tokens(text: str) -> int:
    """Return about how many tokens a text has: one for four ASCII characters, or another one."""
    plain = len(text.encode('ascii', 'ignore'))
    return plain // 4 + len(text) - plain


def _language(case: Candidate) -> str:
    return language_of(case.question, case.language)


def _judgement_of(case: Candidate, said: StoredVerdict, source: str) -> Judgement:
    """Return a stored verdict as the judgement of a candidate.

    If a judge sees the end of a response and finds no answer there, the response is wrong.
    """
    if case.answer is None and said.reason == INVALID[1]:
        return Judgement(Verdict.INCORRECT, None, 'no answer', source)
    return Judgement(said.verdict, case.answer, said.reason, source)


# Reasons of rules for which answers differ by a value that was read, and so hardly ever are equal.
BY_VALUE = ('number', 'choice')
ROUNDING = 1e-9  # trials; rounding must not put 8 of 10 above a share of 1 - 0.2


@dataclass(frozen=True)
class Judged:
    """The result of judging.

    Attributes:
        judgements: One per candidate, in order.
        ledger: Costs, and calls saved.
    """

    judgements: list[Judgement]
    ledger: Ledger

    @property
    def transient(self) -> Counter[str]:
        """Number of candidates left unjudged by a temporary failure, by its kind."""
        return Counter(one.reason.partition(':')[0] for one in self.judgements if one.passing)


class Pipeline:
    """Judges candidates under one set of settings.

    Args:
        settings: How verdicts are reached.
        store: The verdict store; None keeps no verdicts.
        judge: The judge; by default the one that the settings name.
        progress: Show bars on standard error.
        report: Takes what the judge will be asked, before it is.

    Raises:
        ValueError: If the settings need a judge but name none, or its prompt can't be read.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        store: VerdictStore | None = None,
        *,
        judge: Judge | None = None,
        progress: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.settings = settings
        self.report = report
        self.store = store
        self.progress = progress
        self.judge: PromptedJudge | None = None
        if settings.mode != 'rule':
            self.judge = PromptedJudge(judge or make_judge(settings), settings, store)

    @property
    def signature(self) -> str:
        """Mode and judge, with a hash of all settings that a verdict depends on."""
        if self.judge is None:
            return self.settings.rules
        return f'{self.settings.mode}:{self.judge.judge.model}:{self.judge.name}'

    def run(self, candidates: Sequence[Candidate]) -> Judged:
        """Judge T candidates.

        Raises:
            JudgeError: If the judge can't be asked at all; its earlier verdicts are in the store.
        """
        unanswered = {
            i: without_answer(one.gold, one.response, one.truncated)
            for i, one in enumerate(candidates)
            if one.answer is None
        }
        triples = [
            self._triple(one) if i not in unanswered or unanswered[i].source in OPEN else None
            for i, one in enumerate(candidates)
        ]
        cases: dict[Triple, Candidate] = {}
        for triple, candidate in zip(triples, candidates, strict=True):
            # Rules can read the answer 7, but not a response that merely ends in 7.
            if triple is not None and (triple not in cases or cases[triple].answer is None):
                cases[triple] = candidate
        ledger = Ledger(price_per_mtok=self.settings.prices)
        silent = triples.count(None)
        ledger.saved['identity'] = len(triples) - silent - len(cases)
        settled: dict[Triple, Judgement] = {}

        def pending() -> dict[Triple, Candidate]:
            return {triple: case for triple, case in cases.items() if triple not in settled}

        settled |= self._by_human(pending())
        ledger.saved['human'] = len(settled)
        ruled = self._by_rule(pending())
        ledger.saved['rule'] = len(ruled)
        settled |= ruled
        ends = {triple: case for triple, case in pending().items() if case.answer is None}
        if self.judge is None or self.settings.no_answer != 'tail':
            opened = {triples[i]: judgement for i, judgement in unanswered.items()}
            settled |= {triple: opened[triple] for triple in ends}
            silent += len(ends)
        ledger.saved['no answer'] = silent
        if self.judge:
            stored = self.judge.recall(pending(), ledger)
            ledger.saved['store'] = len(stored)
            settled |= stored
            if left := pending():
                self.report(self.judge.plan(left))
            settled |= self.judge.ask(left, ledger, progress=self.progress)
        judgements = []
        for i, (triple, candidate) in enumerate(zip(triples, candidates, strict=True)):
            found = unanswered[i] if triple is None else settled[triple]
            if triple is not None and candidate.answer is None:
                found = replace(found, answer=None, end=triple.answer)
            elif found.answer != candidate.answer:
                found = replace(found, answer=candidate.answer)
            judgements.append(found)
        return Judged(judgements, ledger)

    def describe(self, judged: Judged) -> dict[str, Any]:
        """Return the result's description of how its verdicts were reached."""
        settings = self.settings
        told: dict[str, Any] = {'mode': settings.mode, 'match': settings.match}
        if self.judge:
            told['model'] = self.judge.judge.model
        if self.signature != 'rule':
            told['settings'] = settings.resolved()  # for a later rescoring
        if self.judge:
            told['decoding'] = dict(self.judge.judge.settings)
            told['ledger'] = judged.ledger.as_dict()
        reasons = Counter(
            one.reason for one in judged.judgements if one.verdict is Verdict.UNJUDGED
        )
        reached = reason_counts(judged.judgements)
        return told | {'reasons': reached, 'unjudged': dict(reasons.most_common())}

    def _triple(self, candidate: Candidate) -> Triple:
        """Return the triple of a candidate: its answer, the whole response, or its end."""
        text = candidate.answer
        if text is None:
            text = ending(candidate.response)[-self.settings.tail_length :]
        elif self.judge and self.settings.candidate == 'response':
            text = spoken(candidate.response)
        return Triple(candidate.question, candidate.gold, text)

    def _by_human(self, cases: Mapping[Triple, Candidate]) -> dict[Triple, Judgement]:
        if self.store is None:
            return {}
        # People judge the final answer, even if the judge sees the whole response.
        final = {
            triple: triple if case.answer is None else triple._replace(answer=case.answer)
            for triple, case in cases.items()
        }
        found = self.store.get(None, {*final, *final.values()})
        return {
            triple: _judgement_of(cases[triple], said, PEOPLE)
            for triple, other in final.items()
            if (said := found.get(triple) or found.get(other))
        }

    def _by_rule(self, cases: Mapping[Triple, Candidate]) -> dict[Triple, Judgement]:
        if self.settings.mode == 'llm':
            return {}
        ruled = {triple: case for triple, case in cases.items() if case.answer is not None}
        judgements = judge_answers(
            [(case.gold, case.answer or '', case.question) for case in ruled.values()],
            match=self.settings.match,
            undecided=self.settings.undecided,
            progress=self.progress,
        )
        return {
            triple: judgement
            for triple, judgement in zip(ruled, judgements, strict=True)
            if self.judge is None or self._is_final(judgement)
        }

    def _is_final(self, judgement: Judgement) -> bool:
        """Tell whether a verdict by rule is not left to the judge."""
        by_value = not self.settings.recheck_different and judgement.reason in BY_VALUE
        return judgement.verdict is Verdict.CORRECT or (
            judgement.verdict is Verdict.INCORRECT and by_value
        )


def require_coverage(judged: Judged, trials: int, min_coverage: float, remedy: str) -> None:
    """Raise a JudgeError if temporary failures left too many trials without a verdict.

    Permanent refusals and unreadable replies don't count, since asking again would not help.

    Args:
        judged: The result of judging.
        trials: Number of all trials.
        min_coverage: Least share of the trials, in [0, 1], without a temporary failure.
        remedy: How to go on.

    Raises:
        JudgeError: If the share is lower.
    """
    failed = judged.transient.total()
    if failed > (1 - min_coverage) * trials + ROUNDING:
        kinds = ', '.join(f'{kind} {count}' for kind, count in judged.transient.most_common())
        first = next(one.reason for one in judged.judgements if one.passing)
        raise JudgeError(
            f'the judge gave no verdict of {failed} of {trials} responses ({kinds}), such as '
            f'{first}; {remedy}'
        )


LEFT_OUT = "people's verdicts are left out: {}"


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on responses, and their description in a result.

    Attributes:
        judgements: One for each response that is not lost, in order.
        signature: The mode or judge, with a hash of the settings.
        description: Mode, judge and ledger.
        notes: Notes for readers of the result.
        audit: What an audit of this judge found, see
            :mod:`~opencompass_gpassk.judging.audit_sample`.
    """

    judgements: list[Judgement]
    signature: str
    description: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    audit: dict[str, Any] = field(default_factory=dict)


def judge_responses(
    problems: Sequence[Problem],
    responses: Sequence[Response],
    settings: JudgeSettings,
    store: Path | None,
    *,
    min_coverage: float,
    again: str,
    after: str = '',
    report: Callable[[str], None],
) -> Verdicts:
    """Judge the responses that are not lost.

    Args:
        problems: The problems that the responses answer.
        responses: T responses, each with its identity.
        settings: How verdicts are reached.
        store: The file of the verdict store; None keeps no verdicts. If no judge is asked, it is
            only read for people's verdicts, if it exists.
        min_coverage: Least share of the responses, in [0, 1], that temporary failures may leave;
            see :func:`require_coverage`.
        again: How to judge once more, such as ``run the command again``.
        after: How to do so once there is a result; by default as ``again`` says.
        report: Takes messages on the progress.

    Raises:
        JudgeError: If the judge can't be asked, or fails too often; its verdicts are kept.
        ValueError: If the settings, the prompt or the store can't be used.
    """
    present = [response for response in responses if not response.lost]
    notes: list[str] = []
    with _opened(store, settings, notes) or nullcontext() as kept:
        pipeline = Pipeline(settings, kept, progress=True, report=report)
        whole = settings.candidate == 'response'
        candidates = candidates_of(problems, present, whole=whole)
        try:
            judged = pipeline.run(candidates)
            audit = kept.audit(pipeline.signature) if kept else {}
        except StoreError as error:
            if pipeline.judge:
                raise
            notes.append(LEFT_OUT.format(error))
            judged = Pipeline(settings, progress=True).run(candidates)
            audit = {}
        notes += [kept.damage] if kept and kept.damage else []
    if pipeline.judge:
        kept_in = f'; verdicts are kept in {store}' if store else ''
        report(f'{_ledger_line(judged.ledger)}{kept_in}')
    require_coverage(
        judged,
        len(present),
        min_coverage,
        f'{again} when the judge is available: no verdict is paid for twice. Or accept the gap '
        'with a lower min_coverage',
    )
    people = sum(one.source == PEOPLE for one in judged.judgements)
    if people:
        notes.append(f"{people} of {len(responses)} verdicts are a person's")
    by_judge = [one for one in judged.judgements if one.source == 'judge']
    unjudged = [one for one in by_judge if one.verdict is Verdict.UNJUDGED]
    # Asking again at once would not help with these.
    reasons = Counter(one.reason.partition(':')[0] for one in unjudged if not one.passing)
    remedy = ''
    if reasons and pipeline.judge and store:
        remedy = f'to ask it again: gpassk verdicts prune {shlex.quote(str(store))} --judge '
        remedy += f'{shlex.quote(pipeline.judge.judge.model)} --unjudged --yes, '
        remedy += f'then {after or again}'
        shown = ', '.join(f'{reason} ({count})' for reason, count in reasons.most_common(3))
        notes.append(f'the judge gave no verdict of {reasons.total()} responses: {shown}; {remedy}')
    if by_judge and len(unjudged) == len(by_judge):  # metrics would cover other trials only
        raise JudgeError(
            f'no result is made, because the judge gave no verdict that can be read: '
            f'{by_judge[0].reason} ({len(by_judge)} answers). Set prompt, menu and max_tokens of '
            f'judge to what this model was made for; {remedy or "then judge again"}'
        )
    return Verdicts(judged.judgements, pipeline.signature, pipeline.describe(judged), notes, audit)


def _opened(store: Path | None, settings: JudgeSettings, notes: list[str]) -> VerdictStore | None:
    """Open the store; without a judge only for reading people's verdicts, if it is readable."""
    if store is None or (settings.mode == 'rule' and not store.exists()):
        return None
    if settings.mode != 'rule':
        return VerdictStore(store)
    try:
        return VerdictStore(store, read_only=True)
    except (StoreError, ValueError) as error:
        notes.append(LEFT_OUT.format(error))
        return None


def candidates_of(
    problems: Sequence[Problem], responses: Sequence[Response], *, whole: bool = True
) -> list[Candidate]:
    """Return responses to problems, with the answers that are recognised in them.

    Args:
        problems: The problems.
        responses: The responses.
        whole: Whether a judge sees whole responses. Else their texts, which may not fit into
            memory together, are only kept where no answer is recognised.
    """
    known = {problem.problem_id: problem for problem in problems}
    read: dict[tuple[object, ...], Candidate] = {}  # equal responses are read and kept once
    found = []
    for response in with_progress(responses, len(responses), 'reading', 'response', shown=True):
        problem = known[response.identity[0]] if response.identity else Problem('')
        text, raw, processed = response.text, response.raw, response.is_answer
        language = problem.language or problem.groups.get('language', '')
        asked = problem.question, problem.gold, language, response.truncated
        key = *asked, processed, stable_hash([text, raw])
        if key not in read:
            answer = final_answer(
                text,
                processed=processed,
                question=problem.question,
                truncated=response.truncated,
            )
            read[key] = Candidate(
                problem.question,
                problem.gold,
                answer,
                raw if answer is None else text * whole,
                language,
                response.truncated,
            )
        found.append(read[key])
    return found


def _ledger_line(ledger: Ledger) -> str:
    told = {'identity': 'equal answers', 'store': 'verdicts in the store'}
    counts = [(told.get(what, what), count) for what, count in ledger.saved.items() if count]
    saved = ', '.join(f'{what} {count}' for what, count in counts)
    line = f'judge: {ledger.calls} calls, {ledger.retries} of them repeated'
    line += f'; not asked about: {saved}' if saved else ''
    if ledger.failures:
        kinds = ', '.join(f'{kind} {count}' for kind, count in ledger.failures.most_common())
        line += f'; failures: {kinds}'
    return line
