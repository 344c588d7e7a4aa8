"""How often texts are found to be fragments to a model, and what its vectors are worth then.

Texts of a language that a vocabulary was not made for should be found, all others left alone.
"""

import gzip
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import malmoi as mm
from bench.data import Data
from bench.measure import Figure, say
from bench.static import korsts, score, stsb
from bench.text import CORPORA
from malmoi.encode.tokens.fragments import fragment_counter, is_fragmented
from malmoi.encode.tokens.inputs import normalize_text
from malmoi.encode.tokens.tokenizer import tokenizer_from_vocabulary
from malmoi.errors import MalmoiWarning

VOCABULARIES = CORPORA.parent / "vocab"
LINES = 6000  # of each corpus
MULTILINGUAL, KOREAN = "bert-base-multilingual-cased", "koelectra-base"


def run(data: Data) -> Iterator[Figure]:
    """The share of fragmented texts by vocabulary and by set, and what it costs to find them."""
    if not VOCABULARIES.is_dir():
        say(f"no vocabularies in {VOCABULARIES} (set MALMOI_DATA): fragments are left out")
        return
    tokenizers = {"minilm": mm.load_transformer("minilm").tokenizer.backend}
    tokenizers["minilm"].no_truncation()
    for name in (MULTILINGUAL, KOREAN):
        path = VOCABULARIES / f"{name}.txt"
        tokenizers[name] = tokenizer_from_vocabulary(path, {"do_lower_case": False})
    sets = {
        "STS-B": [*stsb("train")[0], *stsb("train")[1]],
        "enwiki": lines("enwiki"),
        "our source": source_lines(),
        "KorSTS": [*korsts("train")[0], *korsts("train")[1]],
        "kowiki": lines("kowiki"),
        "reviews": lines("reviews_ko"),
    }
    warnings.simplefilter("ignore", MalmoiWarning)
    for model in ("minilm", "use"):
        yield Figure(name=f"{model}, KorSTS dev", ours=score(mm.load_encoder(model), korsts("dev")))
    for model, tokenizer in tokenizers.items():
        for name, texts in sets.items():
            yield share(model, tokenizer, name, texts)


def share(model: str, tokenizer: Any, name: str, texts: list[str]) -> Figure:
    """Of a set, the share of texts that are fragmented."""
    given = [normalize_text(text) for text in texts]
    encodings = tokenizer.encode_batch_fast(given)
    words, found = fragment_counter(tokenizer, tokenizer.token_to_id("[UNK]")).count(
        encodings, given
    )
    count = int(is_fragmented(words, found).sum())
    remark = f"{found.sum() / max(1, words.sum()):.2%} of the words"
    return Figure(
        name=f"{model.removeprefix('bert-base-')}, {name}",
        ours=f"{count / len(texts):.2%}",
        remark=remark,
    )


def lines(corpus: str) -> list[str]:
    """The first lines of a corpus."""
    with gzip.open(CORPORA / f"{corpus}.txt.gz", "rt", encoding="utf-8") as file:
        return [line.strip() for line in islice(file, LINES) if line.strip()]


def source_lines() -> list[str]:
    """Lines of program text: this package's own."""
    files = sorted(Path(mm.__file__).parent.rglob("*.py"))
    found = (line.strip() for file in files for line in file.read_text("utf-8").splitlines())
    return list(islice(filter(None, found), LINES))
