"""LiveMathBench, or the problems of this package in its schema, decoded greedily, once.

Environment variables:
GPASSK_VERSION: sample (default), 202412, 202412-hard, 202505, 202505-hard.
GPASSK_LANGUAGES: such as en; default: all languages that the version has.
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

from opencompass_gpassk.datasets import LiveMathBench
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inferencer import GPassKGenInferencer

# abbr, path, n and k. What a config imports can't be called, hence this way.
livemathbench_greedy_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).livemathbench(greedy=True)

livemathbench_greedy_reader_cfg = dict(input_columns=['prompt'], output_column='answer')

livemathbench_greedy_infer_cfg = dict(
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

livemathbench_greedy_eval_cfg = dict(evaluator=dict(type=GPassKEvaluator, judge='rule'))

livemathbench_greedy_datasets = [
    dict(
        type=LiveMathBench,
        **livemathbench_greedy_settings,
        reader_cfg=livemathbench_greedy_reader_cfg,
        infer_cfg=livemathbench_greedy_infer_cfg,
        eval_cfg=livemathbench_greedy_eval_cfg,
    )
]
