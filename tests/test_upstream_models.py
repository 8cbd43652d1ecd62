"""What happens to each model config of the installed OpenCompass under the protocol."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import opencompass
import pytest
from mmengine.config import Config

from opencompass_gpassk.commands.run import check_sampling
from opencompass_gpassk.inference.backend import replaced_settings
from opencompass_gpassk.inference.sampling import PAPER, Sampling

CONFIGS = Path(opencompass.__file__).parent / 'configs/models'
PAGE = Path(__file__).parents[1] / 'docs/opencompass.md'


@pytest.mark.slow
def test_the_page_says_what_happens_to_each_model_config() -> None:
    """It is sampled, needs sampling='model' to keep its own settings, or is refused."""
    found: Counter[str] = Counter()
    for path in sorted(CONFIGS.rglob('*.py')):
        for model in Config.fromfile(path, format_python_code=False).to_dict().get('models', []):
            try:
                check_sampling({'models': [model]})
            except ValueError as error:
                assert '--model URL#NAME' in str(error), path
                found['refused'] += 1
            else:
                own = replaced_settings(model, Sampling.of(PAPER))
                found['own' if own else 'sampled'] += 1
    told = re.sub(r'\s+', ' ', PAGE.read_text('utf-8'))
    assert (
        f"Of the {found.total()} models in OpenCompass's configs {found['sampled']} are sampled by "
        f"the protocol, {found['own']} sample in their own way (`sampling='model'` keeps it), and "
        f'{found["refused"]} are refused with the remedy'
    ) in told
    assert found.total() > 500
