"""How fast a cross-encoder scores pairs beside sentence-transformers' CrossEncoder.

Random weights of the shape of MiniLM-L6; a claim of SciFact with each of several abstracts. Pairs
per second of CPU time, so that other programs and the number of cores do not count.
"""

import gc
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from bench.data import Data
from bench.encoding import row_name
from bench.measure import Figure, say
from bench.retrieval import SCIFACT, abstracts
from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.locate import find_model
from malmoi.evaluate.retrieval import load_beir
from malmoi.kernels.threads import THREADS
from malmoi.reporting.reporter import SilentReporter
from malmoi.rerank.reranker import load_reranker

ROUNDS, QUERIES, ABSTRACTS, SENTENCE = 4, 4, 25, 160  # the last in characters
SAME = 1e-5
Score = Callable[[str, Sequence[str]], Float32Array]


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the texts are not there."""
    if not SCIFACT.is_dir():
        say(f"no {SCIFACT} (set MALMOI_DATA): reranking is left out")
        return
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    folder = data.folder / "cross-encoder"
    save_cross_encoder(folder)
    peer, queries = peer_of(folder), list(load_beir(SCIFACT, "train").queries.values())[:QUERIES]
    texts = [entry.text for entry in abstracts()[: QUERIES * ABSTRACTS]]
    sets = {"abstracts": texts, "sentences": [text[-SENTENCE:] for text in texts]}
    reranker = load_reranker(str(folder))
    reranker.compile()
    score = partial(reranker.score, activation="identity", reporter=SilentReporter())
    name = row_name("float32")
    for kind, own in sets.items():
        say(f"{kind}, {name}: {len(own)} pairs, {ROUNDS} rounds")
        yield beside(f"{kind}, {name}", score, peer, queries, own)


def beside(
    name: str, ours: Score, peer: Score, queries: Sequence[str], texts: Sequence[str]
) -> Figure:
    """Each query with texts of its own, in turn with the peer; the best round of each counts."""
    best, off = [float("inf")] * 2, 0.0
    for _ in range(ROUNDS):
        scores = []
        for side, score in enumerate((ours, peer)):
            gc.collect()
            start = time.process_time()
            parts = [
                score(query, texts[i * ABSTRACTS : (i + 1) * ABSTRACTS])
                for i, query in enumerate(queries)
            ]
            best[side] = min(best[side], time.process_time() - start)
            scores.append(np.concatenate(parts))
        off = max(off, float(np.abs(scores[0] - scores[1]).max()))
    rates = [len(texts) / seconds for seconds in best]
    return Figure(
        name=name,
        ours=f"{rates[0]:.1f}/s",
        peer=f"{rates[1]:.1f}/s",
        ratio=rates[0] / rates[1],
        asked=f"off ≤ {SAME:g}",
        met=off <= SAME,
        remark=f"{name}: pairs per second of CPU time, with {THREADS} threads each; logits differ"
        f" by at most {off:.1e}, and have a standard deviation of {scores[1].std():.1e}.",
    )


def save_cross_encoder(folder: Path) -> None:
    """A model of the shape of ms-marco-MiniLM-L6 with random weights, and MiniLM's tokenizer."""
    import torch
    import transformers

    torch.manual_seed(7)
    source = find_model("minilm")
    config = transformers.AutoConfig.from_pretrained(source, num_labels=1)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():  # biases and norms are not what they begin as
        for weight in model.parameters():
            weight += 0.05 * torch.randn_like(weight)
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(source / name, folder)


def peer_of(folder: Path) -> Score:
    """sentence-transformers' CrossEncoder, with as many threads; it sorts pairs by length too."""
    import torch
    from sentence_transformers import CrossEncoder

    torch.set_num_threads(THREADS)
    peer = CrossEncoder(str(folder), device="cpu", activation_fn=torch.nn.Identity())

    def score(query: str, texts: Sequence[str]) -> Float32Array:
        scores: Float32Array = peer.predict([(query, text) for text in texts], batch_size=32)
        return scores

    return score
