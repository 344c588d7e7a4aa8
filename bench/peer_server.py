"""What people write to serve sentence-transformers: a FastAPI endpoint around `encode`.

`python -m bench.peer_server MODEL PORT plain|async`: the endpoint is a `def`, which FastAPI runs
on a thread of its own, or an `async def`, which it runs one at a time.
"""

import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer


class Asked(BaseModel):
    texts: list[str]


class Answered(BaseModel):
    embeddings: list[list[float]]


def make_app(model: SentenceTransformer, kind: str) -> FastAPI:
    app = FastAPI()

    def encoded(asked: Asked) -> Answered:
        return Answered(embeddings=model.encode(asked.texts).tolist())

    async def encoded_at_once(asked: Asked) -> Answered:
        return encoded(asked)

    app.post("/embed")(encoded if kind == "plain" else encoded_at_once)
    return app


if __name__ == "__main__":
    folder, port, kind = sys.argv[1:]
    app = make_app(SentenceTransformer(folder, device="cpu"), kind)
    uvicorn.run(app, port=int(port), log_level="warning", access_log=False)
