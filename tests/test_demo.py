"""The demonstration model: what it was trained on, and what its checkpoint does."""

from __future__ import annotations

import ast
import json
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import opencompass_gpassk
from tools.demo.corpus import evaluated, problems, reserved
from tools.demo.families import FAMILIES
from tools.demo.problem import Problem
from tools.demo.questions import QUESTIONS, evaluated_questions

SAMPLE = Path(opencompass_gpassk.__file__).parent / 'datasets/sample'
SAMPLE_QUESTIONS = [
    json.loads(line)['question']
    for path in sorted(SAMPLE.glob('*.jsonl'))
    for line in path.read_text('utf-8').split('\n')
    if line
]
# The answer to each family's question, worked out in another way than the family does.
ANSWERS: dict[str, Callable[..., int]] = {
    'total': lambda a, b: sum((a, b)),
    'multiplication': lambda a, b: sum(a for _ in range(b)),
    'percentage': lambda a, b: round(a * (b / 100)),
    'rectangle': lambda a, b: next(a * w for w in range(b) if 2 * a + 2 * w == b),
    'handshakes': lambda a: math.comb(a, 2),
    'units_digit': lambda a, b: int(str(a**b)[-1]),
    'linear_equation': lambda a, b, c: next(x for x in range(c) if a * x + b == c),
    'arithmetic_sequence': lambda a, b, c: list(range(a, a + b * c, b))[-1],
    'dot_product': lambda a, b, c, d: sum(x * y for x, y in ((a, c), (b, d))),
    'quadratic_equation': lambda a, b: max(x for x in range(a) if x * x + b == a * x),
    'remainder': lambda a, b: a - a // b * b,
    'common_divisor': lambda a, b: max(d for d in range(1, b) if a % d == b % d == 0),
    'divisors': lambda a: sum(a % d == 0 for d in range(1, a + 1)),
    'determinant': lambda a, b, c, d: a * d - c * b,
    'derivative': lambda a, b, c: round(
        (((c + 1e-6) ** 3 + a * (c + 1e-6) ** 2 + b * (c + 1e-6)) - (c**3 + a * c * c + b * c))
        / 1e-6
    ),
    'series': lambda a: sum(range(a + 1)),
}


def masked(text: str) -> tuple[str, tuple[str, ...]]:
    """A text without its numbers, and the numbers in ascending order."""
    return re.sub(r'-?\d+', '#', text), tuple(sorted(re.findall(r'-?\d+', text)))


def value(expression: str) -> float:
    """A sum in LaTeX, evaluated."""
    text = expression.replace(r'\times', '*').replace(r'\div', '/').replace('^', '**')
    tree = ast.parse(text, mode='eval')
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    if not all(isinstance(node, allowed) for node in ast.walk(tree)):
        raise SyntaxError(expression)
    return eval(compile(tree, '', 'eval'))


@pytest.mark.parametrize('name', FAMILIES)
def test_questions_can_be_read_back_and_have_the_answer_given(name: str) -> None:
    """Numbers found in a question, in either language, are the drawn ones and give the answer."""
    for index in range(100):
        problem = FAMILIES[name].draw(random.Random(index), ('en', 'cn')[index % 2])
        assert FAMILIES[name].numbers_in(problem.question) == problem.numbers
        assert ANSWERS[name](*problem.numbers) == problem.answer
        assert f'\\boxed{{{problem.answer}}}' in problem.solution
        assert [n for n, f in FAMILIES.items() if f.numbers_in(problem.question)] == [name]


def test_solutions_are_true_equations() -> None:
    """Both sides of each equation of numbers in a solution are equal."""
    checked = 0
    for problem in problems('equations', 2000):
        for formula in re.findall(r'\$([^$]+)\$', problem.solution):
            sides = formula.split('=')
            if len(sides) > 1 and not re.search('[a-z]', re.sub(r'\\(times|div)', '', formula)):
                checked += 1
                assert len({value(side) for side in sides}) == 1, problem.solution
    assert checked > 2000


@pytest.mark.slow
def test_no_training_prompt_is_a_sample_prompt() -> None:
    """None holds a question of `sample`, nor asks one with its numbers permuted.

    An eighth of them is drawn again here; the filter that all pass is tested below.
    """
    from tools.demo.train import BATCH, STEPS, STREAM

    texts = {re.sub(r'\s', '', question) for question in SAMPLE_QUESTIONS}
    asked = {masked(question) for question in SAMPLE_QUESTIONS}
    assert len(texts) == len(asked) == len(SAMPLE_QUESTIONS) >= 48
    seen = set()
    for problem in problems(STREAM, STEPS * BATCH // 8):
        prompt = re.sub(r'\s', '', problem.prompt)
        assert not any(text in prompt for text in texts)
        assert masked(problem.question) not in asked
        assert problem.question in problem.prompt
        seen.add(problem.family)
    assert seen == {*FAMILIES, *QUESTIONS}


@pytest.mark.parametrize('name', QUESTIONS)
def test_questions_with_random_variables_are_worked_out(name: str) -> None:
    """The steps end at the question's own answer, which the last one states."""
    for index in range(100):
        problem = QUESTIONS[name].draw(random.Random(index))
        assert problem.language == 'en'
        last = re.findall(r'\$([^$]+)\$', problem.solution)[-2]
        assert value(last.rpartition('=')[2]) == problem.answer
        assert f'\\boxed{{{problem.answer}}}' in problem.solution


def test_no_evaluated_version_is_trained_on() -> None:
    """Neither those that are asked by default nor the next fifteen of each question."""
    from opencompass_gpassk.rv.generation import generate

    asked = {row.question for row in generate('all', names=list(QUESTIONS))}
    assert len(asked) == 6 * len(QUESTIONS)
    assert asked < evaluated_questions()
    questions = {problem.question for problem in problems('train/0', 5000)}
    assert not questions & evaluated_questions()
    for question in evaluated_questions():
        assert Problem('none', 'en', (), '', f'Solve: {question}', '', 0) in evaluated()


def test_the_filter_catches_every_sample_problem_of_a_family() -> None:
    """30 problems of `sample` belong to families; their other order or language is caught too."""
    found = 0
    for question in SAMPLE_QUESTIONS:
        for name, family in FAMILIES.items():
            if numbers := family.numbers_in(question):
                found += 1
                for order in (numbers, numbers[::-1]):
                    assert Problem(name, 'en', order, '', 'other text', '', 0) in evaluated()
    assert found == 30
    loose = Problem('none', 'en', (1,), '', f'Solve: {SAMPLE_QUESTIONS[5]} '.upper(), '', 0)
    assert loose in evaluated()


@pytest.mark.slow
def test_held_out_instances_are_never_trained_on() -> None:
    """A tenth of the instances is reserved for measuring, whatever the language and the order."""
    seen = {(p.family, tuple(sorted(p.numbers))) for p in problems('a', 3000)}
    kept = {(p.family, tuple(sorted(p.numbers))) for p in problems('a', 3000, held_out=True)}
    assert not seen & kept
    drawn = [FAMILIES['total'].draw(random.Random(index), 'en') for index in range(2000)]
    assert 0.07 < sum(map(reserved, drawn)) / len(drawn) < 0.13


@pytest.fixture(scope='module')
def checkpoint() -> tuple[Any, Any]:
    """The shipped model and its tokenizer."""
    from tools.demo.evaluate import load

    torch.set_num_threads(1)
    return load()


def test_checkpoint_is_small_and_safe() -> None:
    """Weights are safetensors alone, and the whole folder is under 4 MB."""
    from tools.demo.evaluate import MODEL

    files = {path.name: path.stat().st_size for path in MODEL.iterdir()}
    assert sum(files.values()) < 4_000_000
    assert {Path(name).suffix for name in files} <= {'.json', '.jinja', '.md', '.safetensors'}
    assert 'fixture' in (MODEL / 'README.md').read_text('utf-8')


def test_greedy_answers_are_right_at_times_and_repeatable(checkpoint: tuple[Any, Any]) -> None:
    """Greedy decoding gives the same responses twice, and solves most problems it never saw."""
    from tools.demo.evaluate import is_right, respond

    model, tokenizer = checkpoint
    drawn = list(problems('test', 48, held_out=True))
    prompts = [problem.prompt for problem in drawn]
    responses = respond(model, tokenizer, prompts)
    assert responses == respond(model, tokenizer, prompts)
    right = [is_right(r, problem.answer) for r, problem in zip(responses, drawn, strict=True)]
    assert sum(right) > len(right) // 2


@pytest.mark.slow
def test_sample_is_solved_sometimes(checkpoint: tuple[Any, Any]) -> None:
    """At least 5 problems of `sample` are right in some of four draws and wrong in others."""
    from tools.demo.evaluate import sample_counts

    counts = sample_counts(*checkpoint, n=4)
    assert len(counts) == 48
    assert sum(0 < count < 4 for count in counts) >= 5
    assert max(counts) == 4
    assert min(counts) == 0


@pytest.mark.slow
def test_training_is_repeatable(tmp_path: Path) -> None:
    """Two short trainings give the same weights and the same tokenizer."""
    from tools.demo.train import train

    for name in ('a', 'b'):
        train(tmp_path / name, steps=2)
    for name in ('model.safetensors', 'tokenizer.json', 'config.json'):
        assert (tmp_path / 'a' / name).read_bytes() == (tmp_path / 'b' / name).read_bytes()


def test_it_runs_through_opencompass(checkpoint: tuple[Any, Any]) -> None:
    """The model config builds OpenCompass's own wrapper, which cuts at the end token."""
    from mmengine.config import Config
    from opencompass.utils import build_model_from_cfg

    file = Path(__file__).parents[1] / 'configs/models/demo.py'
    (config,) = Config.fromfile(file, format_python_code=False).models
    wrapper = build_model_from_cfg(config)
    assert type(wrapper).__name__ == 'HuggingFacewithChatTemplate'
    assert wrapper.model.dtype is torch.float32
    prompts = ['Compute $612+155$.', '计算 $7\\times 12$ 的值。']
    for response in wrapper.generate(prompts, max_out_len=config.max_out_len):
        assert '\\boxed{' in response
        assert not re.search(r'<\||\|>', response)
