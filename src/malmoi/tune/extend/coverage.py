"""Coverage: how well a vocabulary fits a sample of texts; unknown and fragmented words, lengths."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.tune.extend.new_tokens import is_latin

MAX_TEXTS = 2000  # of a sample
MAX_CHARACTERS = 500  # of a text of the sample


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """A sample of texts by one tokenizer; shares are of texts, or of words.

    `unknown_texts` is the share of texts with an unknown token; `fragments` the share of words
    that reach the model only as single letters, bytes or unknown tokens.
    """

    texts: int
    unknown_texts: float
    fragments: float
    tokens: float  # per text, without special tokens


def measure_coverage(encoder: TransformerEncoder, texts: Sequence[str]) -> Coverage:
    """How an encoder's tokenizer splits texts, of which there must be one or more."""
    tokenizer, stats = encoder.tokenizer, TextStats()
    normalized = [tokenizer.normalize(text) for text in texts]
    encodings = tokenizer.encode_batch(normalized)
    stats.count(encodings, normalized, tokenizer)
    unknown = sum(tokenizer.unk_token_id in encoding.ids for encoding in encodings)
    tokens = sum(len(encoding) - sum(encoding.special_tokens_mask) for encoding in encodings)
    return Coverage(
        texts=len(texts),
        unknown_texts=unknown / len(texts),
        fragments=stats.fragments / max(stats.words, 1),
        tokens=tokens / len(texts),
    )


def sample_texts(texts: Iterable[str]) -> list[str]:
    """The beginnings of the first texts with letters beyond Latin."""
    heads = (text[:MAX_CHARACTERS] for text in texts)
    return list(islice((head for head in heads if not is_latin(head)), MAX_TEXTS))
