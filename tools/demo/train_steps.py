"""Train the demonstration's step classifier: `python -m tools.demo.train_steps`.

It begins with the demonstration model, which knows the arithmetic, and has three stages.

1. That model learns to go on with solutions as they are scored: in the prompt of ReasonEval.
2. It gets fresh layers on top. What the model expects at a token shows at its last layer; the
   layers above tell where another token stands, and at a step's end that one did. They learn it
   from labels of each sign and digit (:mod:`~tools.demo.step_labels`).
3. They go on with labels of whole steps.

The last two are trained as `gpassk reasoneval train` does it.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from opencompass_gpassk.reasoneval.classifier import DELIMITER_KEY, StepScorer, StepTokenizer
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution
from opencompass_gpassk.reasoneval.train import Trained, TrainingSettings, train
from tools.demo.evaluate import MODEL
from tools.demo.step_detection import detect_errors
from tools.demo.step_labels import DELIMITER, STREAM, labelled_steps, sound_steps
from tools.demo.train import BATCH, batches, loss_of, make_optimizers

if TYPE_CHECKING:
    from transformers import LlamaModel, PreTrainedTokenizerFast

    from opencompass_gpassk.reasoneval.classifier import StepClassifier


STEP_CLASSIFIER = Path(__file__).parents[2] / 'opencompass_gpassk/demo' / 'step_classifier'
HELD_OUT = ('steps/held-out', 2000)  # stream and count
SEED = 0
LANGUAGE = 'steps/language'  # the stream of the first stage
COUNTS = (8000, 14_000, 3500)  # solutions of each stage
LAYERS = 2  # on top of the demonstration model's
MARKS = 16  # dimensions that tell a token's identity; the first of them is constant
FAINT = 0.02  # their size against that of embeddings
LOUD = 40.0  # size of the demonstration model's states after its last layer
WRITING = ('embed_tokens.weight', 'o_proj.weight', 'down_proj.weight')
TURNING = 6  # pairs of dimensions that tell a distance of one token from others
SHARPNESS = 10.0  # of the attention to the token before
STAGES = tuple(
    TrainingSettings(
        learning_rate=rate,
        batch_size=16,
        device_batch=8,
        warmup=warmup,
        checkpoint_every=100_000,
    )
    for rate, warmup in ((2e-3, 27), (4e-4, 7))
)


def adapted(tokenizer: PreTrainedTokenizerFast, count: int) -> LlamaModel:
    """The demonstration model's backbone, used to ReasonEval's prompt by so many solutions."""
    import torch
    from transformers import LlamaForCausalLM

    torch.manual_seed(SEED)
    model = LlamaForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
    solutions = [Solution(each.question, each.steps) for each in sound_steps(LANGUAGE, count)]
    encoded = StepTokenizer(tokenizer).encode(solutions)
    examples = [
        (each.ids.tolist(), each.prompt) for each in encoded if not isinstance(each, Refusal)
    ]
    optimizers = make_optimizers(model, -(-len(examples) // BATCH))
    for batch in batches(examples, random.Random(SEED)):
        loss_of(model, batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
    return model.model


def deepened(trained: LlamaModel) -> StepClassifier:
    """A backbone, frozen, with a head and fresh layers on top, which know each token read.

    At its last layer a language model has forgotten the token that it reads over the one that it
    expects. Hence its states get :data:`MARKS` more dimensions, with a code of the token, so small
    that its own layers go on as they did.
    """
    import torch
    from transformers import LlamaConfig, LlamaModel

    from opencompass_gpassk.reasoneval.classifier import StepClassifier

    old = trained.config
    depth, width = old.num_hidden_layers, old.hidden_size
    changed = {
        'num_hidden_layers': depth + LAYERS,
        'hidden_size': width + MARKS,
        'head_dim': width // old.num_attention_heads,
        'initializer_range': width**-0.5,
        'rms_norm_eps': 1e-9,
    }
    torch.manual_seed(SEED)
    backbone = LlamaModel(LlamaConfig.from_dict({**old.to_dict(), **changed}))
    own = trained.state_dict()
    size = FAINT * own['embed_tokens.weight'].square().mean().sqrt() / LOUD
    with torch.no_grad():
        for name, weight in backbone.state_dict().items():
            if name not in own or name == 'norm.weight':
                continue
            weight.zero_()
            weight[tuple(slice(length) for length in own[name].shape)] = own[name]
            if name.endswith(WRITING):
                weight /= LOUD
            if name.endswith('norm.weight'):
                weight *= (width / (width + MARKS)) ** 0.5
        codes = torch.randint(2, (old.vocab_size, MARKS)) * 2.0 - 1
        codes[:, 0] = 1
        backbone.embed_tokens.weight[:, width:] = size * codes
    backbone.requires_grad_(False)
    kept = (torch.arange(width + MARKS) < width).float()[:, None]
    for layer in backbone.layers[depth:]:
        layer.requires_grad_(True)
        for norm in (layer.input_layernorm, layer.post_attention_layernorm):
            torch.nn.init.constant_(norm.weight[width:], float(1 / size))
        for writing in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
            torch.nn.init.zeros_(writing)
            writing.register_hook(lambda gradient: gradient * kept)
    look_back(backbone, depth, width)
    return StepClassifier(backbone, generator=torch.Generator().manual_seed(SEED))


def look_back(backbone: LlamaModel, layer: int, constant: int) -> None:
    """Make all heads of a layer attend to the token before, and pass on what is expected there.

    Query and key are the same for each token, but for their length and the rotation by the
    position; the key is turned so that they agree at a distance of one. What hardly turns is
    subtracted, so that the product is 0 there and negative elsewhere, whatever the length.

    Args:
        backbone: Whose.
        layer: Which.
        constant: The dimension that is positive for all tokens.
    """
    import torch

    attention = backbone.layers[layer].self_attn
    size = attention.head_dim
    angles = backbone.rotary_emb.inv_freq.float()
    signs = torch.zeros(size // 2)
    signs[:TURNING], signs[-TURNING:] = 1, -1
    query = torch.cat([signs, torch.zeros(size // 2)])
    key = torch.cat([angles.cos(), angles.sin()])
    heads = backbone.config.num_attention_heads
    with torch.no_grad():
        for weight, pattern in ((attention.q_proj.weight, query), (attention.k_proj.weight, key)):
            weight.zero_()
            weight[:, constant] = SHARPNESS * pattern.repeat(heads)
        torch.nn.init.eye_(attention.v_proj.weight)
        torch.nn.init.orthogonal_(attention.o_proj.weight[:constant])


def train_steps(folder: Path, share: float = 1.0, *, progress: bool = False) -> Trained:
    """Train on a share of the solutions, each read once, and write the checkpoint to `folder`."""
    import torch
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    counts = [max(int(share * count), 1) for count in COUNTS]
    model = deepened(adapted(tokenizer, counts[0]))
    with TemporaryDirectory() as whole:
        for stage, settings in enumerate(STAGES):
            drawn = labelled_steps(f'{STREAM}/{stage}', counts[1 + stage], pieces=stage == 0)
            trained = train(
                list(drawn),
                model,
                tokenizer,
                f'{whole}/{stage}',
                settings=settings,
                progress=progress,
            )
    model.half().save(folder, 'last')
    tokenizer.save_pretrained(folder)
    # CPUs are slow at half precision: the weights are loaded as the configuration says.
    path = folder / 'config.json'
    config = json.loads(path.read_text('utf-8'))
    config |= {'dtype': 'float32', DELIMITER_KEY: DELIMITER}
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + '\n', 'utf-8')
    return trained


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        'folder', type=Path, nargs='?', default=STEP_CLASSIFIER, help='default: %(default)s'
    )
    parser.add_argument('--share', type=float, default=1.0, help='of the data; default: all')
    arguments = parser.parse_args()
    trained = train_steps(arguments.folder, arguments.share, progress=True)
    print(f'{trained.updates} updates on {trained.steps} steps; loss {trained.loss:.4f}')
    held_out = list(labelled_steps(*HELD_OUT, held_out=True))
    for kind, found in detect_errors(StepScorer.load(arguments.folder), held_out).items():
        print(
            f'held out, {kind.value} steps: macro F1 {found.macro_f1:.3f}, AUC {found.auc:.3f} '
            f'({found.errors} of {found.units})'
        )


if __name__ == '__main__':
    main()
