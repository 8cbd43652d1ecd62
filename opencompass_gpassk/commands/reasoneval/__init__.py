"""``gpassk reasoneval``: score the steps of solutions; one module per action."""

from __future__ import annotations

from typing import Any

from opencompass_gpassk.commands import add_command
from opencompass_gpassk.commands.reasoneval import filter, meta, run, score, train

DESCRIPTION = """\
Score whether the steps of solutions are valid and useful (ReasonEval, arXiv 2404.05692):

  gpassk reasoneval score FILE --model MODEL -o SCORED        score the steps of solutions
  gpassk reasoneval run RUN --model MODEL                     score the responses of a finished run
  gpassk reasoneval filter SCORED -o KEPT                     keep good solutions as training data
  gpassk reasoneval meta --data FOLDER --scores PATH          compare scores with people's labels
  gpassk reasoneval train LABELS --backbone MODEL -o FOLDER   train a model on step labels
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(
        subparsers,
        'reasoneval',
        told,
        DESCRIPTION,
    )
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    for module in (score, run, filter, meta, train):
        module.add_action(actions)
