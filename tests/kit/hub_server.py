"""A hub of data sets on this machine, which serves what huggingface_hub asks for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = 'c' * 40


class HubServer:
    """Repositories of data sets: the list of their files, and the files with ETag and commit.

    Attributes:
        url: What HF_ENDPOINT is set to.
        sent: Names of the files that were downloaded.
    """

    def __init__(self, repositories: Mapping[str, Mapping[str, bytes]]) -> None:
        self.sent: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place = unquote(urlsplit(self.path).path).lstrip('/')
                if place.startswith('api/datasets/'):
                    name = place.removeprefix('api/datasets/').partition('/revision/')[0]
                    if name in repositories:
                        return self.answer(json.dumps(_info(name, repositories[name])).encode())
                name, _, file = place.removeprefix('datasets/').partition('/resolve/')
                file = file.partition('/')[2]  # after the revision
                content = repositories.get(name, {}).get(file)
                if content is None:
                    return self.send_error(404)
                if self.command == 'GET':
                    server.sent.append(file)
                return self.answer(content)

            do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

            def answer(self, content: bytes) -> None:
                self.send_response(200)
                self.send_header('ETag', f'"{hashlib.sha256(content).hexdigest()}"')
                self.send_header('X-Repo-Commit', COMMIT)
                self.send_header('Content-Length', str(len(content)))
                self.end_headers()
                if self.command == 'GET':
                    self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self._http.server_address[1]}'
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop; the port is free afterwards."""
        self._http.shutdown()
        self._http.server_close()


def _info(name: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    siblings = [{'rfilename': file} for file in files]
    return {'id': name, 'sha': COMMIT, 'private': False, 'tags': [], 'siblings': siblings}
