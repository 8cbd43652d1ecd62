"""RV-Bench as in arXiv 2501.11790: four worked examples before each problem.

Each problem is decoded greedily, once. The examples are turns of a chat after a system prompt;
those of mathematics are Minerva's, as the installed OpenCompass holds them. Examples and problems
are in English. An answer is right only if its text equals the gold answer's, as in the paper; no
judge is asked.

Environment variables:
GPASSK_RV_SEED, GPASSK_RV_PER_GROUP: seed of the versions, and their number per question.
"""

from mmengine.config import read_base
from opencompass.openicl.icl_prompt_template import PromptTemplate

from opencompass_gpassk.datasets import RVBench
from opencompass_gpassk.evaluator import GPassKEvaluator

with read_base():
    from ..protocol import gpassk_greedy_infer_cfg, gpassk_reader_cfg

# A config can't call its imports.
settings = __import__('opencompass_gpassk.datasets.settings', fromlist=['_'])
prompts = __import__('opencompass_gpassk.datasets.prompts', fromlist=['_'])

rvbench_4shot_gpassk_datasets = [
    dict(
        type=RVBench,
        **settings.rvbench(source, greedy=True, few_shot=True),
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template=prompts.few_shot_turns(source)),
            retriever=gpassk_greedy_infer_cfg['retriever'],
            # A model that goes on after its answer poses itself the next problem.
            inferencer=dict(
                gpassk_greedy_infer_cfg['inferencer'], stopping_criteria=[prompts.STOP]
            ),
        ),
        eval_cfg=dict(evaluator=dict(type=GPassKEvaluator, judge=dict(mode='rule', match='exact'))),
    )
    for source in ('math', 'leetcode')
]
del settings, prompts
