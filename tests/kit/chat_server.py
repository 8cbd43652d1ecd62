"""An OpenAI-compatible server on this machine, and OpenCompass's wrappers pointed at it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import opencompass.models

CHAT = ['OpenAI', 'OpenAISDK', 'OpenAISDKStreaming', 'OpenAISDKRollout']
Reply = tuple[int, dict[str, Any]]


class Http(ThreadingHTTPServer):
    """Hundreds may connect at once."""

    request_queue_size = 1024


class Server:
    """An OpenAI-compatible server that answers by prompt and seed.

    Attributes:
        requests: The bodies it got.
        keys: The keys it was shown.
        reply: May answer differently; gets the body, returns None or (status, body).
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.reply: Callable[[dict[str, Any]], Reply | None] = lambda body: None
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                server.requests.append(body)
                server.keys.append(self.headers['Authorization'])
                status, answer = server.reply(body) or (200, server.answer(body))
                self.send_response(status)
                if body.get('stream') and status == 200:
                    self.send_header('Content-Type', 'text/event-stream')
                    parts = [json.dumps(part) for part in server.parts(answer)]
                    text = ''.join(f'data: {part}\n\n' for part in [*parts, '[DONE]'])
                else:
                    self.send_header('Content-Type', 'application/json')
                    text = json.dumps(answer)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *args: Any) -> None:
                pass

        self._http = Http(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self._http.server_address[1]}/v1/'
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    @staticmethod
    def answer(body: dict[str, Any], finish: str = 'stop', text: str | None = None) -> Any:
        if text is None:
            asked = body.get('messages') or body.get('input')
            text = hashlib.sha256(f'{asked}{body.get("seed")}'.encode()).hexdigest()[:9]
        if 'input' in body:
            return {
                'id': 'r',
                'object': 'response',
                'created_at': 0,
                'model': 'm',
                'status': 'completed' if finish == 'stop' else 'incomplete',
                'incomplete_details': None if finish == 'stop' else {'reason': finish},
                'output': [
                    {
                        'id': 'o',
                        'type': 'message',
                        'role': 'assistant',
                        'status': 'completed',
                        'content': [{'type': 'output_text', 'text': text, 'annotations': []}],
                    }
                ],
                'usage': {'input_tokens': 1, 'output_tokens': 17, 'total_tokens': 18},
            }
        message = {'role': 'assistant', 'content': text}
        return {
            'id': 'c',
            'object': 'chat.completion',
            'created': 0,
            'model': 'm',
            'choices': [{'index': 0, 'finish_reason': finish, 'message': message}],
            'usage': {'prompt_tokens': 1, 'completion_tokens': 17, 'total_tokens': 18},
        }

    @staticmethod
    def parts(answer: Any) -> list[Any]:
        choice = answer['choices'][0]
        chunk = {**answer, 'object': 'chat.completion.chunk'}
        chunk.pop('usage')
        return [
            {**chunk, 'choices': [{'index': 0, 'delta': choice['message'], 'finish_reason': None}]},
            {
                **chunk,
                'choices': [{'index': 0, 'delta': {}, 'finish_reason': choice['finish_reason']}],
            },
        ]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def build(name: str, server: Server, checkpoint: Path, **settings: Any) -> Any:
    """Return one of OpenCompass's wrappers, pointed at the server."""
    base = server.url + 'chat/completions' if name == 'OpenAI' else server.url
    model = getattr(opencompass.models, name)(
        path='some-model',
        key=settings.pop('key', 'none'),
        openai_api_base=base,
        tokenizer_path=str(checkpoint),
        query_per_second=100,  # its clock goes on ticking in a thread until the tests are over
        max_seq_len=4096,
        **settings,
    )
    if hasattr(model, 'openai_client'):
        model.openai_client.max_retries = 0
    return model
