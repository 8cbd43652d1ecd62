"""The demonstration model's tokenizer: single digits, frequent words, and bytes for the rest."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

USER, ASSISTANT, END, PAD = '<|user|>', '<|assistant|>', '<|end|>', '<|pad|>'
# LaTeX commands, single digits, the border between formulas, words, blanks, any other character.
PIECES = r'\\[a-z]+\{?|\d|\$, \$| ?\$| ?[^\W\d_]+|\s+|.'
CHAT_TEMPLATE = (
    '{% for message in messages %}'
    f"{{{{ '{ASSISTANT}' if message['role'] == 'assistant' else '{USER}' }}}}"
    "{{ message['content'] }}"
    f"{{{{ '{END}' if message['role'] == 'assistant' else '' }}}}"
    '{% endfor %}'
    f"{{% if add_generation_prompt %}}{{{{ '{ASSISTANT}' }}}}{{% endif %}}"
)


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Byte pairs learned from `texts`; any text can be encoded, since all 256 bytes are tokens.

    Digits and signs never join with a neighbour, so that arithmetic is seen digit by digit.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), 'isolated'),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, END, USER, ASSISTANT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[USER, ASSISTANT],
        chat_template=CHAT_TEMPLATE,
        # Llama models refuse the `token_type_ids` that a fast tokenizer gives by default.
        model_input_names=['input_ids', 'attention_mask'],
        clean_up_tokenization_spaces=False,
        padding_side='left',
    )
