"""AIME 2025, parts I and II: 30 problems, decoded greedily, once.

Environment variables:
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

from opencompass_gpassk.datasets import AIME
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inferencer import GPassKGenInferencer

# abbr, path, n and k. What a config imports can't be called, hence this way.
aime2025_greedy_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).aime('2025', greedy=True)

aime2025_greedy_reader_cfg = dict(input_columns=['prompt'], output_column='answer')

aime2025_greedy_infer_cfg = dict(
    prompt_template=dict(
        type=PromptTemplate,
        template=dict(round=[dict(role='HUMAN', prompt='{prompt}')]),
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(
        type=GPassKGenInferencer,
        sampling='greedy',
        max_out_len=8192,  # 32768 for models with long reasoning
    ),
)

aime2025_greedy_eval_cfg = dict(evaluator=dict(type=GPassKEvaluator, judge='rule'))

aime2025_greedy_datasets = [
    dict(
        type=AIME,
        **aime2025_greedy_settings,
        reader_cfg=aime2025_greedy_reader_cfg,
        infer_cfg=aime2025_greedy_infer_cfg,
        eval_cfg=aime2025_greedy_eval_cfg,
    )
]
