"""Names that config dictionaries of model wrappers use for what a sampling protocol decides.

Whatever else a user's config holds (stop tokens, caches, chat template settings) stays in force.
"""

from __future__ import annotations

__all__ = ['DECODING', 'OURS']

LENGTHS = frozenset(
    {'max_completion_tokens', 'max_length', 'max_new_tokens', 'max_output_tokens', 'max_tokens'}
)
COUNTS = frozenset({'best_of', 'n', 'num_return_sequences'})  # a request gets one response
SEEDS = frozenset({'decoder_seed', 'random_seed', 'sampling_seed', 'seed'})
PENALTIES = frozenset(
    {
        'diversity_penalty',
        'frequency_penalty',
        'length_penalty',
        'no_repeat_ngram_size',
        'presence_penalty',
        'repetition_penalty',
    }
)
TRUNCATIONS = frozenset(
    {
        'epsilon_cutoff',
        'eta_cutoff',
        'min_p',
        'top_a',
        'top_h',
        'top_k',
        'top_p',
        'typical',
        'typical_p',
    }
)
SEARCHES = frozenset(
    {
        'beam_size',
        'do_sample',
        'early_stopping',
        'num_beam_groups',
        'num_beams',
        'penalty_alpha',
        'temperature',
        'use_beam_search',
    }
)
OURS = LENGTHS | COUNTS | SEEDS
DECODING = OURS | PENALTIES | TRUNCATIONS | SEARCHES
