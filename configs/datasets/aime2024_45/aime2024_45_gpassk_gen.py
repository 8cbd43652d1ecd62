"""AIME2024-45 from a file of your own, n samples of each: G-Pass@k.

arXiv 2412.13147 reports AIME2024-45, but its list of problems isn't published: AIME 2024 I and II
have 30 problems, and the published figures fit multiples of 1/45. Put a list of your own into
aime2024-45.jsonl in the folder that GPASSK_DATA names, or name that file. Without it, the 30 of
AIME 2024 are loaded under that name; they can't be compared with the published column.

Environment variables:
GPASSK_N, GPASSK_K: samples of each problem, and the k such as 4,8,16.
GPASSK_DATA: the file, or its folder.
"""

from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

from opencompass_gpassk.datasets import AIME
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inferencer import GPassKGenInferencer

# abbr, path, n and k. What a config imports can't be called, hence this way.
aime2024_45_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).aime('2024-45')

aime2024_45_reader_cfg = dict(input_columns=['prompt'], output_column='answer')

aime2024_45_infer_cfg = dict(
    prompt_template=dict(
        type=PromptTemplate,
        template=dict(round=[dict(role='HUMAN', prompt='{prompt}')]),
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(
        type=GPassKGenInferencer,
        sampling=dict(temperature=1.0, top_p=0.8, top_k=50, repetition_penalty=1.0),
        max_out_len=8192,  # 32768 for models with long reasoning
    ),
)

aime2024_45_eval_cfg = dict(evaluator=dict(type=GPassKEvaluator, judge='rule'))

aime2024_45_datasets = [
    dict(
        type=AIME,
        **aime2024_45_settings,
        reader_cfg=aime2024_45_reader_cfg,
        infer_cfg=aime2024_45_infer_cfg,
        eval_cfg=aime2024_45_eval_cfg,
    )
]
