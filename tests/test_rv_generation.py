"""RV-Bench's rows: how they are drawn, that they are the same everywhere, and their files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.datasets.rv_files import read_posed, write_line
from opencompass_gpassk.rv.generation import generate, versions
from opencompass_gpassk.rv.question import (
    LEVELS,
    SUBJECTS,
    distinct,
    either_sign,
    question,
    question_named,
    questions,
    require,
    several,
    span,
)

# SHA-256 of what `gpassk rv generate` writes. It changes when a question does: raise VERSION of the
# data set then.
GOLDEN = '5e22cb25934b0fd59aaddc72af9aad95c2caffdc6e89e954dff9f211fdcbfcaf'


@pytest.mark.parametrize('source', SUBJECTS)
def test_there_are_115_questions_of_each_source(source: str) -> None:
    """As many as in the paper, of every subject and level."""
    found = questions(source)
    assert len({q.name for q in found}) == len(found) == 115
    assert not {q.name for q in found} & {q.name for q in questions() if q.source != source}
    assert all(q.statements.keys() == {'en', 'cn'} for q in found)
    assert {q.subject for q in found} == set(SUBJECTS[source])
    assert {q.level for q in found} == set(LEVELS[source])


def test_the_default_rows_are_the_same_on_every_machine() -> None:
    """1,150 versions and 230 originals, whatever order hashes give to sets."""
    rows = [write_line(row) for row in generate('all')]
    assert Counter(json.loads(row)['original'] for row in rows) == {False: 1150, True: 230}
    assert sha256(''.join(rows).encode()).hexdigest() == GOLDEN
    environment = {**os.environ, 'PYTHONHASHSEED': '7'}
    command = [sys.executable, '-m', 'opencompass_gpassk.commands.main', 'rv', 'generate']
    elsewhere = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert sha256(elsewhere.stdout).hexdigest() == GOLDEN


def test_another_seed_is_another_set() -> None:
    """Seeds are not shifted copies of one another, and originals stay."""
    first, second = (list(generate('math', seed=seed)) for seed in (42, 43))
    assert [row for row in first if row.original] == [row for row in second if row.original]
    shared = {row.question for row in first if not row.original} & {
        row.question for row in second if not row.original
    }
    assert len(shared) < 60  # narrow questions meet by chance


def test_more_versions_leave_the_first_as_they_are() -> None:
    """So a larger group can be compared with a smaller one."""
    lamps = question_named('LampsInStep')
    assert versions(lamps, 8)[:6] == versions(lamps, 5)


def test_versions_differ_in_text_and_the_first_in_answer() -> None:
    """All that there are are found; one more is an error that names the question."""

    @question('algebra', level=1)
    def coin(face=span(1, 9), side=span(1, 2)):
        """<face>, <side>?

        <face>，<side>？
        """
        require(face != 5)
        return face // 2

    found = versions(coin, 4)
    assert len({version.answer for version in found}) == 5
    assert len({version.text() for version in found}) == 5
    with pytest.raises(ValueError, match='question Coin has hardly more than 5 different problems'):
        versions(coin, 5)
    with pytest.raises(ValueError, match='count is -1'):
        versions(coin, -1)


def test_a_question_is_a_function() -> None:
    """Its statement is filled with what is drawn; neighbours drawn alike differ."""

    @question('algebra', level=1)
    def two_of_three(
        x=distinct(1, 9), y=distinct(1, 9), sign=either_sign(4, 4), row=several(3, span('x', 9))
    ):
        r"""Is $<x> < <y>$, and what is $\frac{<x + y>}{2} <+sign>$ of <listed(row)>?

        $<x> < <y>$ 吗？$\frac{<x + y>}{2} <+sign>$，<listed(row)>？
        """
        require(x < y)
        return x

    for version in versions(two_of_three, 5)[1:3]:
        x, y, sign, row = version.variables.values()
        assert x < y <= 9
        assert min(row) >= x
        signed = f'+ {sign}' if sign > 0 else f'- {-sign}'
        a, b, c = row
        shown = rf'\frac{{{x + y}}}{{2}} {signed}$'
        assert version.text() == f'Is ${x} < {y}$, and what is ${shown} of ${a}$, ${b}$ and ${c}$?'
        assert version.text('cn') == f'${x} < {y}$ 吗？${shown}，${a}$、${b}$ 和 ${c}$？'


def test_a_random_seed_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the SHA-256 of the rows, which may be published before the seed."""
    file = tmp_path / 'rv.jsonl'
    command = ['rv', 'generate', '--name', 'LampsInStep', '-o', str(file)]
    assert main([*command, '--seed', 'random']) == 0
    told = re.search(r'SHA-256 (\w{64})\nSeed (\d+)', capsys.readouterr().err)
    assert told
    digest, seed = told.groups()
    assert int(seed) > 2**64
    assert sha256(file.read_bytes()).hexdigest() == digest
    assert main([*command, '--seed', seed]) == 0
    assert sha256(file.read_bytes()).hexdigest() == digest


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'source': 'gsm8k'}, "source is 'gsm8k'"),
        ({'names': ['LampInStep']}, 'do you mean LampsInStep'),
        ({'names': ['LampsInStep', 'LampsInStep']}, 'holds LampsInStep twice'),
        ({'source': 'leetcode', 'names': ['LampsInStep']}, "which is of source 'math'"),
        ({'languages': ['fr']}, "languages holds 'fr'; there are en, cn"),
    ],
)
def test_unknown_questions_are_refused(settings: dict, message: str) -> None:
    """The error says what was meant."""
    with pytest.raises(ValueError, match=message):
        list(generate(**settings))


def test_written_rows_are_read_back(tmp_path: Path) -> None:
    """In their order, with source, subject and level; the variables are for people."""
    rows = list(generate('all', names=['LampsInStep', 'PercentOfTens']))
    file = tmp_path / 'rv.jsonl'
    file.write_text(''.join(map(write_line, rows)))
    kept = [(r.question, r.answer, r.group, r.version, r.subject, r.level) for r in rows]
    again = read_posed(str(file))
    assert [(r.question, r.answer, r.group, r.version, r.subject, r.level) for r in again] == kept


def test_files_of_others_are_read(tmp_path: Path) -> None:
    """Other names of the fields, one JSON list, and the originals in a file of their own."""
    rows = [{'qf_id': f'math_{i}', 'problem': f'{i}.{v}?', 'answer': v} for i in '12' for v in '34']
    (tmp_path / 'rv.json').write_text(json.dumps(rows))
    originals = [{'qf_id': 'math_1', 'problem': '1?', 'answer': 7}]
    (tmp_path / 'sp.json').write_text(json.dumps(originals))
    found = read_posed(str(tmp_path / 'rv.json'), str(tmp_path / 'sp.json'))
    assert [(r.group, r.version, r.answer) for r in found] == [
        ('math_1', 'original', '7'),
        ('math_1', '1', '3'),
        ('math_1', '2', '4'),
        ('math_2', '1', '3'),
        ('math_2', '2', '4'),
    ]


def test_a_known_problem_can_be_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/rvbench.md says, if the question has its very text."""
    page = Path(__file__).parents[1].joinpath('docs/rvbench.md').read_text('utf-8')
    (script,) = (x for x in re.findall(r'```python\n(.*?)```', page, re.DOTALL) if 'known' in x)
    monkeypatch.chdir(tmp_path)
    exec(script, {})
    rows = read_posed('memory.jsonl')
    assert [row.version for row in rows] == ['original', *'12345']
    assert (rows[0].question, rows[0].answer) == ('Solve $3x + 7 = 22$ for $x$.', '5')
    for wrong in (script.replace("'x': 5", "'x': 6"), script.replace('Solve', 'Find')):
        with pytest.raises(ValueError, match='is not'):
            exec(wrong, {})


def row(**more: Any) -> dict[str, Any]:
    return {'group': 'a', 'question': 'x', 'answer': '1', **more}


@pytest.mark.parametrize(
    ('rows', 'message'),
    [
        ([{'question': 'a', 'answer': '1'}], 'line 1: field group or'),
        ([row(original='perhaps')], "is 'perhaps'"),
        ([row(original=True), row(original=True)], "group 'a' has 2 originals"),
        ([row(original=True), row(group='b')], "group 'a' has an original but no version"),
        ([row(), row(), row(group='b')], 'different numbers of versions'),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, rows: list[dict], message: str) -> None:
    """The error names the file, and the line or the group."""
    file = tmp_path / 'bad.jsonl'
    file.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    with pytest.raises(ValueError, match=message) as error:
        read_posed(str(file))
    assert 'bad.jsonl' in str(error.value)
