"""A hub on this computer: folders as models, with the answers that huggingface_hub asks for."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """One model; `fetched` are the files that were asked for, `corrupt` those sent wrong."""

    name: str
    folder: Path
    url: str = ""
    fetched: list[str] = field(default_factory=list)
    corrupt: set[str] = field(default_factory=set)

    def files(self) -> list[str]:
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return [path.relative_to(self.folder).as_posix() for path in files]

    def about(self, file: str) -> dict[str, object]:
        content = (self.folder / file).read_bytes()
        entry: dict[str, object] = {
            "type": "file",
            "path": file,
            "size": len(content),
            "oid": hashlib.sha1(content).hexdigest(),
        }
        if is_large(file):
            entry["lfs"] = {
                "oid": hashlib.sha256(content).hexdigest(),
                "size": len(content),
                "pointerSize": 130,
            }
        return entry


def is_large(file: str) -> bool:
    return file.endswith((".safetensors", ".bin", ".onnx"))


def handler_of(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing."""

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            path = self.path.partition("?")[0]
            api = f"/api/models/{hub.name}"
            if path in (api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"):
                siblings = [{"rfilename": file} for file in hub.files()]
                said = {"id": hub.name, "modelId": hub.name, "sha": COMMIT, "siblings": siblings}
                self.send(json.dumps(said).encode(), body=body)
            elif path.startswith(f"{api}/tree/"):
                self.send(json.dumps(list(map(hub.about, hub.files()))).encode(), body=body)
            elif path.startswith(f"/{hub.name}/resolve/"):
                self.send_file(path.removeprefix(f"/{hub.name}/resolve/").partition("/")[2], body)
            else:
                kind = "RevisionNotFound" if path.startswith(api) else "RepoNotFound"
                self.send(b"", 404, {"X-Error-Code": kind}, body=body)

        def send_file(self, file: str, body: bool) -> None:
            content = (hub.folder / file).read_bytes()
            sha = hashlib.sha256 if is_large(file) else hashlib.sha1
            etag = f'"{sha(content).hexdigest()}"'
            headers = {"ETag": etag, "X-Repo-Commit": COMMIT}
            if is_large(file):
                headers |= {"X-Linked-ETag": etag, "X-Linked-Size": str(len(content))}
            if body:
                hub.fetched.append(file)
            if file in hub.corrupt:
                content = content[:-1] + bytes([content[-1] ^ 1])
            self.send(content, 200, headers, body=body)

        def send(
            self,
            content: bytes,
            status: int = 200,
            headers: dict[str, str] | None = None,
            *,
            body: bool,
        ) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content)

    return Handler


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(hub))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
