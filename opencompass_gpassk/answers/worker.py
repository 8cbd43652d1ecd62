"""The worker process: reads a JSON line per task from standard input, answers with one.

It is started as ``python -m opencompass_gpassk.answers.worker MEMORY_LIMIT`` by the pool, which
kills it if an answer takes too long.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any

__all__ = ['main']

GRACE = 1.0  # seconds


def main() -> None:
    """Serve until standard input is closed."""
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), 'w', encoding='ascii')
    os.dup2(2, 1)  # keep all other output away from the pool
    import logging

    logging.disable(logging.CRITICAL)
    import math_verify  # noqa: F401  loaded before the pool's time limit starts

    from opencompass_gpassk.answers.check import canonical, compare_thoroughly

    _reply(replies, {'ready': True})
    for line in sys.stdin:
        task = json.loads(line)
        # the pool kills a late worker; if the pool is gone, this does
        signal.setitimer(signal.ITIMER_REAL, task['time_limit'] + GRACE)
        try:
            if 'gold' in task:
                relation, reason = compare_thoroughly(task['gold'], task['answer'])
                reply: dict[str, Any] = {'relation': relation.value, 'reason': reason}
            else:
                reply = {'form': canonical(task['answer'])}
        except MemoryError:
            reply = {'reason': 'memory'}
        except RecursionError:
            reply = {'reason': 'too deeply nested'}
        except Exception as error:  # a parser may raise anything; only this pair is lost
            reply = {'reason': f'failed: {type(error).__name__}'}
        signal.setitimer(signal.ITIMER_REAL, 0)
        _reply(replies, reply)


def _reply(replies: Any, reply: dict[str, Any]) -> None:
    replies.write(json.dumps(reply) + '\n')
    replies.flush()


if __name__ == '__main__':
    main()
