"""Scorers that read solutions in batches of similar length, equal solutions once."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.progress_bar import progress_bar
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores, indexes

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self


@dataclass(frozen=True, eq=False)
class Encoded:
    """A solution of S steps in T tokens.

    Attributes:
        ids: The tokens of prompt and steps, int32, shape (T,).
        ends: Index of the token at which each step is read, rising, shape (S,).
        tokens: Number of the steps' tokens.
        prompt: Number of the prompt's tokens, if the steps follow them and nothing else does.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    tokens: int
    prompt: int = 0


@dataclass(frozen=True, eq=False)
class Passage:
    """The part of a solution that one forward pass reads.

    Attributes:
        ids: The tokens, shape (T,).
        reads: Indexes of the tokens at which steps are read, shape (R,).
        first: Index in the solution of the first of these steps, from 0.
    """

    ids: NDArray[np.int32]
    reads: NDArray[np.int64]
    first: int = 0


def passages(
    encoded: Encoded, limit: int | None, shift: int, window: bool
) -> list[Passage] | Refusal:
    """Return a solution whole if it fits; else the prompt with windows of the steps, or a refusal.

    Windows overlap by up to a half. A step is read in the first window that holds its end, with at
    least a quarter of a window before that end. Windows begin at the start of a step if possible.
    If a step is longer than a window, only its end is read. A solution whose prompt takes more than
    half of the limit is refused.

    Args:
        encoded: The solution.
        limit: Greatest number of tokens that the model takes; None for any number.
        shift: How many tokens before its last token a step is read.
        window: Whether to make windows of a solution that is too long, or to refuse it.
    """
    if limit is None or len(encoded.ids) <= limit:
        return [Passage(encoded.ids, encoded.ends - shift)]
    if not window or encoded.prompt > limit / 2:
        return Refusal.TOO_LONG
    return list(_windows(encoded, shift, limit - encoded.prompt))


def _windows(encoded: Encoded, shift: int, room: int) -> Iterator[Passage]:
    prompt, ends = encoded.prompt, encoded.ends
    begins = np.concatenate([[prompt], ends[:-1] + 1])
    step, start = 0, prompt
    while True:
        stop = start + room
        after = int(np.searchsorted(ends, stop))  # the first step that ends after the window
        if after > step:  # the first window may hold no step's end
            ids = np.concatenate([encoded.ids[:prompt], encoded.ids[start:stop]])
            yield Passage(ids, ends[step:after] - start + prompt - shift, step)
            step = after
        if step == len(ends):
            return
        # Go half a window back, or less if the window would not reach the end of the next step.
        earliest = max(stop - room // 2, int(ends[step]) + 1 - room)
        fitting = begins[(begins >= earliest) & (begins <= ends[step] - room // 4)]
        start = int(fitting[0]) if len(fitting) else earliest


def like_lengths(lengths: Sequence[int], size: int, tokens: int) -> Iterator[list[int]]:
    """Yield batches of indexes, the longest first, so that a lack of memory shows at once.

    A batch has at most ``size`` passages, and at most so many ``tokens``, padding included; a
    longer passage is alone.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and (len(batch) == size or (len(batch) + 1) * lengths[batch[0]] > tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


# Messages of errors without a class of their own that mean exhausted memory: PyTorch's allocator on
# the CPU, and libraries of CUDA.
EXHAUSTED = re.compile(
    r"out of memory|not enough memory|can't allocate memory|cannot allocate memory|ALLOC_FAILED"
    r'|bad_alloc',
    re.IGNORECASE,
)
SURROGATES = re.compile('[\ud800-\udfff]')  # not valid Unicode; tokenizers fail on them
SAMPLE = 64  # numbers sampled per tensor: reading all of a large model would take minutes
# Arguments of `from_pretrained` for all files of a checkpoint: which of them, and where they are.
WHERE = ('revision', 'cache_dir', 'token', 'local_files_only', 'subfolder', 'proxies')
POOL = 8192  # solutions that are sorted by length together; their tokens are kept in memory
AT_ONCE = 256  # solutions in a call of the tokenizer

Rows = NDArray[np.float64]


class BatchedScorer(ABC):
    """Scores solutions with a model that reads many of them in one forward pass.

    Args:
        model: The model; it is put into evaluation mode.
        tokenizer: The checkpoint's own.
        batch_size: Greatest number of solutions in a forward pass.
        batch_tokens: Greatest number of tokens in a pass, with padding; a longer solution is alone.
            By default 2048 on the CPU, whose caches hold no more, and 16384 elsewhere.
        max_tokens: Greatest number of tokens of prompt and steps together; by default the number
            of the model's positions.

    Raises:
        ValueError: If a setting is out of its range.
    """

    shift = 0  # how many tokens before its last token a step is read
    window = False  # whether solutions that are too long are read in windows
    score_columns = slice(None)  # the classes whose probabilities are the scores of a step

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        batch_size: int = 64,
        batch_tokens: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        positions = getattr(model.config.get_text_config(), 'max_position_embeddings', None)
        if positions and max_tokens and max_tokens > positions:
            raise ValueError(
                f'max_tokens of {type(self).__name__}: {max_tokens} is more than the {positions} '
                'positions that the model has; give less'
            )
        self.model = model
        self.tokenizer = tokenizer
        self.name = model_name(model.config.name_or_path)
        # A model that is offloaded to the disk takes its input on the CPU.
        self.device = 'cpu' if model.device.type == 'meta' else str(model.device)
        self.batch_size = batch_size
        self.batch_tokens = batch_tokens or (2048 if self.device == 'cpu' else 16384)
        self.max_tokens: int | None = max_tokens or positions

    @classmethod
    def load(
        cls, source: str | Path, *, model: dict[str, Any] | None = None, **settings: Any
    ) -> Self:
        """Load model and tokenizer from a folder or the hub.

        Args:
            source: The folder, or an id such as ``GAIR/ReasonEval-7B``.
            model: Arguments of ``from_pretrained``: ``dtype``, by default the checkpoint's,
                ``device_map``, ``attn_implementation``, ``quantization_config``, and so on.
            settings: Arguments of this class.

        Raises:
            ValueError: If a setting is out of its range, or the checkpoint is not whole.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoTokenizer

        model = model or {}
        where = {name: model[name] for name in WHERE if name in model}
        tokenizer = AutoTokenizer.from_pretrained(str(source), **where)
        return cls(cls.load_model(str(source), **model), tokenizer, **settings)

    @staticmethod
    @abstractmethod
    def load_model(source: str, **settings: Any) -> Any:
        """Load the model alone, as :meth:`load` does."""

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What scores depend on besides the solution, as JSON values."""
        config = self.model.config
        return {
            'model': self.name,
            'revision': getattr(config, '_commit_hash', None),
            'weights': weights_fingerprint(self.model),
            'tokenizer': tokenizer_fingerprint(self.tokenizer),
            'dtype': str(self.model.dtype).removeprefix('torch.'),
            'max_tokens': self.max_tokens,
            **self.own_settings(),
        }

    @abstractmethod
    def own_settings(self) -> dict[str, Any]:
        """Return what scores of this kind depend on besides model and tokenizer."""

    @abstractmethod
    def encode(self, solutions: Sequence[Solution]) -> list[Encoded | Refusal]:
        """Return the tokens of each solution, or a refusal."""

    @abstractmethod
    def read(self, input_ids: torch.Tensor, reads: torch.Tensor) -> torch.Tensor:
        """Return the logits of C classes at R tokens, shape (R, C).

        Args:
            input_ids: Token ids, shape (B, T).
            reads: Row and column of each of the tokens, shape (R, 2).
        """

    def score(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[StepScores]:
        """Return the scores of each solution, in order; :meth:`stream` yields them as they come."""
        found = dict(self.stream(solutions, progress=progress))
        return [found[index] for index in range(len(solutions))]

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution as soon as it is scored, the longest first.

        The caller can store them at once, so that little is lost if the process is killed. Refused
        solutions are yielded too, with the reason in their scores.

        Args:
            solutions: The solutions; equal ones are scored once.
            progress: Show a bar on standard error.
        """
        places = indexes(solutions)
        self.model.eval()
        pending = iter(places)
        refused = 0
        with progress_bar(len(places), 'scoring', 'solution', shown=progress) as bar:
            while pool := list(itertools.islice(pending, POOL)):
                for solution, scores in self._pool(pool):
                    refused += scores.refusal is not None
                    bar.set_postfix(refused=refused, refresh=False)
                    bar.update()
                    for index in places[solution]:
                        yield index, scores

    def _pool(self, solutions: Sequence[Solution]) -> Iterator[tuple[Solution, StepScores]]:
        chunks = (solutions[start : start + AT_ONCE] for start in range(0, len(solutions), AT_ONCE))
        encoded = [one for chunk in chunks for one in self.encode(chunk)]
        tokens = [one.tokens if isinstance(one, Encoded) else 0 for one in encoded]
        work: list[tuple[int, Passage]] = []
        for index, one in enumerate(encoded):
            found = (
                one
                if isinstance(one, Refusal)
                else passages(one, self.max_tokens, self.shift, self.window)
            )
            if isinstance(found, Refusal):
                steps = len(solutions[index].steps)
                yield solutions[index], StepScores.refused(steps, found, tokens[index])
            else:
                work += [(index, passage) for passage in found]
        wanted = Counter(index for index, _ in work)
        parts: dict[int, dict[int, Any]] = defaultdict(dict)  # a passage's rows, or a refusal
        lengths = [len(passage.ids) for _, passage in work]
        for batch in like_lengths(lengths, self.batch_size, self.batch_tokens):
            results = self._run([work[item][1] for item in batch])
            for item, rows in zip(batch, results, strict=True):
                index, passage = work[item]
                parts[index][passage.first] = rows
                if len(parts[index]) == wanted[index]:
                    solution = solutions[index]
                    read = [rows for _, rows in sorted(parts.pop(index).items())]
                    refusal = next((one for one in read if isinstance(one, Refusal)), None)
                    if refusal:
                        refused = StepScores.refused(len(solution.steps), refusal, tokens[index])
                        yield solution, refused
                    else:
                        scores = np.concatenate(read)[:, self.score_columns]
                        yield solution, StepScores(scores, tokens=tokens[index])

    def _run(self, passages: Sequence[Passage]) -> list[Rows | Refusal]:
        """Return the probabilities of each passage's steps, shape (R, C), or a refusal.

        A batch that runs out of memory is run again in halves.
        """
        import torch

        try:
            rows = self._probabilities(passages)
            return [part if np.isfinite(part).all() else Refusal.NOT_FINITE for part in rows]
        except MemoryError:
            pass
        except RuntimeError as error:  # also torch.cuda.OutOfMemoryError, perhaps without a message
            if not (isinstance(error, torch.cuda.OutOfMemoryError) or EXHAUSTED.search(str(error))):
                raise
        torch.cuda.empty_cache()  # the memory of the failed pass is free here, behind the handlers
        if len(passages) == 1:
            return [Refusal.OUT_OF_MEMORY]
        half = len(passages) // 2
        return [*self._run(passages[:half]), *self._run(passages[half:])]

    def _probabilities(self, passages: Sequence[Passage]) -> list[Rows]:
        import torch

        # Padded on the right: a decoder's tokens don't see what follows them.
        ids = np.zeros((len(passages), max(len(passage.ids) for passage in passages)), np.int64)
        for row, passage in enumerate(passages):
            ids[row, : len(passage.ids)] = passage.ids
        counts = [len(passage.reads) for passage in passages]
        columns = np.concatenate([passage.reads for passage in passages])
        reads = np.stack([np.repeat(np.arange(len(passages)), counts), columns], axis=1)
        with torch.inference_mode():
            input_ids, places = (torch.from_numpy(one).to(self.device) for one in (ids, reads))
            logits = self.read(input_ids, places)
            rows = torch.softmax(logits.float(), dim=-1).cpu().numpy().astype(np.float64)
        return np.split(rows, np.cumsum(counts)[:-1])


def tokenised(tokenizer: Any, texts: list[str], **settings: Any) -> Mapping[str, list[Any]]:
    """Return what a tokenizer makes of texts, without the tokens that it puts around each."""
    if not texts:
        return {'input_ids': [], 'offset_mapping': []}
    found: Mapping[str, list[Any]] = tokenizer(
        texts,
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,  # else it warns of long texts, which are handled later
        **settings,
    )
    return found


def special_ids(tokenizer: Any) -> dict[str, int]:
    """Return a tokenizer's special tokens, each with its number."""
    special = {str(text) for text in tokenizer.all_special_tokens}
    special |= {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    return {text: int(tokenizer.convert_tokens_to_ids(text)) for text in sorted(special)}


def prefix_ids(tokenizer: Any) -> list[int]:
    """Return the tokens that a tokenizer puts before each text."""
    plain = tokenizer('a', add_special_tokens=False)['input_ids']
    whole = tokenizer('a')['input_ids']
    for start in range(len(whole) - len(plain) + 1):
        if whole[start : start + len(plain)] == plain:
            return list(whole[:start])
    return []


def load_whole(
    kind: Any, source: str, *, dtype: Any, remedy: str, **settings: Any
) -> tuple[Any, list[str]]:
    """Load a model of ``transformers``, and refuse a checkpoint that lacks some of its weights.

    Args:
        kind: The class to load, such as ``AutoModel``.
        source: A folder or an id on the hub.
        dtype: ``auto`` for the checkpoint's, or another.
        remedy: What to do if weights are missing.
        settings: Other arguments of ``from_pretrained``.

    Returns:
        The model, and the names of the weights that it has no place for.

    Raises:
        ValueError: If weights are missing.
        OSError: If there is no such checkpoint.
    """
    from packaging.version import Version
    from transformers import __version__

    settings['dtype' if Version(__version__) >= Version('4.56') else 'torch_dtype'] = dtype
    model, report = kind.from_pretrained(source, output_loading_info=True, **settings)
    if missing := sorted(report['missing_keys']):
        raise ValueError(
            f'{source}: the checkpoint misses {", ".join(missing[:5])} ({len(missing)} in all); '
            f'{remedy}'
        )
    return model, list(report['unexpected_keys'])


def model_name(source: str | Path) -> str:
    """Return a model's name; for a local folder the last part of its path."""
    folder = Path(source)
    return folder.resolve().name if str(source) and folder.is_dir() else str(source)


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """Return sixteen hexadecimal digits: a hash of how a ``transformers`` tokenizer works."""
    if getattr(tokenizer, 'is_fast', False):
        rules = json.loads(tokenizer.backend_tokenizer.to_str())
        for name in ('padding', 'truncation'):  # they belong to the last call, not the tokenizer
            rules.pop(name, None)
    else:
        added = {number: str(token) for number, token in tokenizer.added_tokens_decoder.items()}
        probe = tokenizer('a A 1+1=2\n\u03c0')['input_ids']
        rules = [type(tokenizer).__name__, tokenizer.get_vocab(), added, probe]
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    return stable_hash([rules, special])[:16]


def weights_fingerprint(model: torch.nn.Module) -> str:
    """Return sixteen hexadecimal digits: a hash of samples of all tensors, changed by training."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f'{name} {tuple(tensor.shape)} {tensor.dtype}'.encode())
        if tensor.device.type != 'meta':  # left on disk
            flat = tensor.detach().reshape(-1)
            some = flat[:: max(len(flat) // SAMPLE, 1)]
            digest.update(some.to('cpu').float().numpy().tobytes())
    return digest.hexdigest()[:16]
