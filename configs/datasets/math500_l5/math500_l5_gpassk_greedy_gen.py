"""The 134 problems of MATH-500 that have level 5, decoded greedily, once.

Environment variables:
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

from opencompass_gpassk.datasets import MATH500L5
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inferencer import GPassKGenInferencer

# abbr, path, n and k. What a config imports can't be called, hence this way.
math500_l5_greedy_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).math500_l5(greedy=True)

math500_l5_greedy_reader_cfg = dict(input_columns=['prompt'], output_column='answer')

math500_l5_greedy_infer_cfg = dict(
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

math500_l5_greedy_eval_cfg = dict(evaluator=dict(type=GPassKEvaluator, judge='rule'))

math500_l5_greedy_datasets = [
    dict(
        type=MATH500L5,
        **math500_l5_greedy_settings,
        reader_cfg=math500_l5_greedy_reader_cfg,
        infer_cfg=math500_l5_greedy_infer_cfg,
        eval_cfg=math500_l5_greedy_eval_cfg,
    )
]
