"""An OpenAI-compatible server that replays recorded responses: ``gpassk run`` without a model.

    python -m tools.replay_server docs/tutorial --port 8000

Each file of the folder, such as ``t0.5.jsonl.gz``, is a model: its lines have id, question and
samples. This package's requests tell by their seed which sample of the problem they are, so that a
run is the same each time. For other seeds the samples follow in their order.
"""

from __future__ import annotations

import argparse
import gzip
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from opencompass_gpassk.inference.sample_requests import request_seed


class Server(ThreadingHTTPServer):
    """A server to which hundreds connect at once."""

    request_queue_size = 1024  # of 5 places, as by default, most wait seconds to knock again


class Recording:
    """The responses of one model.

    Args:
        path: JSON lines with ``id``, ``question`` and ``samples``, gzipped.
    """

    def __init__(self, path: Path) -> None:
        with gzip.open(path, 'rt', encoding='utf-8') as lines:
            self.rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def response(self, prompt: str, seed: int) -> str:
        """Return a recorded response to the problem that the prompt contains."""
        found = [row for row in self.rows if row['question'] in prompt]
        if not found:
            return 'I have no recorded response to this.'
        row = max(found, key=lambda one: len(one['question']))
        parsed = [{'role': 'HUMAN', 'prompt': prompt}]
        for replica, sample in enumerate(row['samples']):
            if request_seed(0, row['id'], replica, parsed) == seed:
                return str(sample)
        with self.lock:
            self.asked[row['id']] += 1
            return str(row['samples'][(self.asked[row['id']] - 1) % len(row['samples'])])


def main() -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(description='Replay recorded responses.')
    parser.add_argument('folder', type=Path, help='folder of NAME.jsonl.gz, one for each model')
    parser.add_argument('--port', type=int, default=8000)
    args = parser.parse_args()
    models = {
        path.name.removesuffix('.jsonl.gz'): Recording(path)
        for path in sorted(args.folder.glob('*.jsonl.gz'))
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer(200, {'object': 'list', 'data': [{'id': name} for name in models]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
            if body['model'] in models:
                prompt = body['messages'][-1]['content']
                text = models[body['model']].response(prompt, body.get('seed', -1))
                choice = {'message': {'content': text}, 'finish_reason': 'stop'}
                tokens = {'completion_tokens': len(text.split())}
                self._answer(200, {'choices': [choice], 'usage': tokens})
            else:
                error = {'message': 'no such model', 'code': 'model_not_found'}
                self._answer(404, {'error': error})

        def _answer(self, status: int, answer: dict[str, Any]) -> None:
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    Server(('127.0.0.1', args.port), Handler).serve_forever()


if __name__ == '__main__':
    main()
