"""The protocol of the data sets in this folder: prompts, sampling and judging.

Sampling is as in arXiv 2412.13147; tables show the greedy accuracy beside it. Judging is by rule,
or as set by GPASSK_JUDGE: `llm` asks a judge about every answer, as the paper does; `cascade` asks
it about answers that the rules don't confirm.
"""

from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inferencer import GPassKGenInferencer

MAX_OUT_LEN = 8192  # 32768 for models with long reasoning

gpassk_reader_cfg = dict(input_columns=['prompt'], output_column='answer')

gpassk_infer_cfg = dict(
    prompt_template=dict(
        type=PromptTemplate,
        template=dict(round=[dict(role='HUMAN', prompt='{prompt}')]),
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(
        type=GPassKGenInferencer,
        sampling=dict(temperature=1.0, top_p=0.8, top_k=50, repetition_penalty=1.0),
        max_out_len=MAX_OUT_LEN,
    ),
)

gpassk_greedy_infer_cfg = dict(
    prompt_template=gpassk_infer_cfg['prompt_template'],
    retriever=gpassk_infer_cfg['retriever'],
    inferencer=dict(type=GPassKGenInferencer, sampling='greedy', max_out_len=MAX_OUT_LEN),
)

gpassk_eval_cfg = dict(
    evaluator=dict(
        type=GPassKEvaluator,
        judge=__import__('opencompass_gpassk.judging.settings', fromlist=['_']).configured(),
    )
)
