"""A file of predictions of OpenCompass, of any version, without the run that it is from.

It holds records by number; the samples of a problem have one prompt::

    {"0": {"origin_prompt": [{"role": "HUMAN", "prompt": "…"}], "prediction": "…", "gold": "72"}}

Gold answers that it lacks, as those of 2023 do, stand in a second file: ``--gold FILE --on …``.
"""

from __future__ import annotations

from pathlib import Path

from opencompass_gpassk.responses import Response
from opencompass_gpassk.samples.log_files import Fields, Log, Stated, Tool


def _stated(log: Log) -> Stated:
    return Stated(name='' if log.path == '-' else Path(log.path).stem)


def _row(log: Log, number: int, fields: Fields) -> Fields | str:
    said = fields.get('prediction')
    return {
        'question': Response(record=fields).prompt,
        'answer': fields.get('gold'),
        'samples': said if isinstance(said, list) else [said],
    }


PREDICTIONS = Tool('predictions', [], [{'origin_prompt', 'prediction'}], _stated, _row, True)
