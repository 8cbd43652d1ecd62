"""The protocol of the data sets in this folder: prompts, sampling and judging.

Sampling is as in arXiv 2412.13147, or as set by GPASSK_TEMPERATURE and GPASSK_MAX_OUT_LEN; tables
show the greedy accuracy beside it. Judging is by rule, or as set by GPASSK_JUDGE: `llm` asks a
judge about every answer, as the paper does; `cascade` asks it about answers that the rules don't
decide by value.
"""

from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inferencer import GPassKGenInferencer

gpassk_reader_cfg = dict(input_columns=['prompt'], output_column='answer')

gpassk_infer_cfg = dict(
    prompt_template=dict(
        type=PromptTemplate,
        template=dict(round=[dict(role='HUMAN', prompt='{prompt}')]),
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(
        type=GPassKGenInferencer,
        **__import__('opencompass_gpassk.datasets.settings', fromlist=['_']).inference(),
    ),
)

gpassk_greedy_infer_cfg = dict(
    prompt_template=gpassk_infer_cfg['prompt_template'],
    retriever=gpassk_infer_cfg['retriever'],
    inferencer=dict(
        type=GPassKGenInferencer,
        **__import__('opencompass_gpassk.datasets.settings', fromlist=['_']).inference(greedy=True),
    ),
)

gpassk_eval_cfg = dict(
    evaluator=dict(
        type=GPassKEvaluator,
        judge=__import__('opencompass_gpassk.judging.settings', fromlist=['_']).configured(),
    )
)
