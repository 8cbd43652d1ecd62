"""RV-Bench as in arXiv 2501.11790: four worked examples before each problem.

Each problem is decoded greedily, once. The examples of mathematics are Minerva's, as the installed
OpenCompass holds them. Examples and problems are in English.

Environment variables:
GPASSK_RV_SEED, GPASSK_RV_PER_GROUP: seed of the versions, and their number per question.
GPASSK_MATCH: exact, if answers must equal the gold answer's text, as in the paper.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import RVBench

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_greedy_infer_cfg, gpassk_reader_cfg

# abbr, source, prompt, seed, … __import__: a config can't call its imports.
rvbench_4shot_settings = [
    __import__('opencompass_gpassk.datasets.settings', fromlist=['settings']).rvbench(
        source, greedy=True, prompt='4-shot'
    )
    for source in ('math', 'leetcode')
]
# A model that goes on after its answer poses itself the next problem.
rvbench_4shot_stop = [__import__('opencompass_gpassk.datasets.prompts', fromlist=['examples']).STOP]
rvbench_4shot_infer_cfg = dict(
    prompt_template=gpassk_greedy_infer_cfg['prompt_template'],
    retriever=gpassk_greedy_infer_cfg['retriever'],
    inferencer=dict(gpassk_greedy_infer_cfg['inferencer'], stopping_criteria=rvbench_4shot_stop),
)

rvbench_4shot_gpassk_datasets = [
    dict(
        type=RVBench,
        **settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=rvbench_4shot_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
    for settings in rvbench_4shot_settings
]
