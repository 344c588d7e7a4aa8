"""Documents as passages of token ids, and the order in which a run reads them.

Knows nothing of torch.
"""

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.subwords import has_hangul
from malmoi.tune.adapt.documents import Document
from malmoi.tune.adapt.masking import Masking, Passage, find_units
from malmoi.tune.adapt.settings import AdaptSettings
from malmoi.tune.data.batches import length_sorted

CHUNK = 256  # documents that are tokenized at a time
MASK_TOKENS = ("[MASK]", "<mask>")


def make_passages(
    encoder: TransformerEncoder,
    documents: Sequence[Document],
    settings: AdaptSettings,
    reporter: Reporter,
) -> list[Passage]:
    """All documents in passages of at most `max_tokens` tokens; passages without words are not
    used.
    """
    texts = [document.whole for document in documents]
    particles = find_spec("kiwipiepy") is not None
    if not particles and any(map(has_hangul, texts)):
        reporter.warn(
            "kiwipiepy is not installed, so that Korean words are masked with their particles:"
            " install malmoi[korean] to mask them without"
        )
    progress, passages = reporter.stage("tokenizing", "documents"), list[Passage]()
    for start in range(0, len(texts), CHUNK):
        some = texts[start : start + CHUNK]
        spans = encoder.passages(some, settings.max_tokens)
        parts = [text[a:b] for text, each in zip(some, spans, strict=True) for a, b in each]
        passages += find_units(encoder.tokenizer(parts), particles=particles)
        progress(start + len(some), len(texts))
    return [passage for passage in passages if passage.num_units]


def make_masking(encoder: TransformerEncoder, share: float) -> Masking:
    """How texts are masked for a model.

    Raises:
        InvalidArgumentError: The model has no mask token.
    """
    backend = encoder.tokenizer.backend
    ids = (backend.token_to_id(name) for name in MASK_TOKENS)
    mask_id = next((token_id for token_id in ids if token_id is not None), None)
    if mask_id is None:
        raise InvalidArgumentError(
            f"the tokenizer of {encoder.name} has no token {' or '.join(MASK_TOKENS)}: choose"
            " method tsdae or contrastive"
        )
    special = {
        token_id for token_id, token in backend.get_added_tokens_decoder().items() if token.special
    } | {mask_id}
    vocabulary = sorted(set(backend.get_vocab().values()) - special)
    return Masking(mask_id=mask_id, random_ids=np.array(vocabulary, np.int32), share=share)


def token_frequencies(passages: Sequence[Passage], vocab_size: int) -> Float32Array:
    """How often each token of the vocabulary occurs, special ones never."""
    counts = np.zeros(vocab_size, np.int64)
    for passage in passages:
        counts += np.bincount(passage.ids[passage.units >= 0], minlength=vocab_size)
    return counts.astype(np.float32)


def passage_batches(
    lengths: Int64Array, batch_size: int, seed: int, epoch: int
) -> list[Int64Array]:
    """The rows of all batches of an epoch: of similar length, in random order."""
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths))
    batches = length_sorted(lengths, order, batch_size)
    return [batches[i] for i in random.permutation(len(batches))]


def tokenize(encoder: TransformerEncoder, texts: Sequence[str]) -> list[Int32Array]:
    """The token ids of texts, with the prompt of the model."""
    encoded = encoder.pipeline.tokenize(texts, prompt=encoder.prompt_text(None))
    return [np.array(encoding.ids, np.int32) for encoding in encoded.encodings]


def truncated(ids: Int32Array, max_tokens: int) -> Int32Array:
    """Token ids with at most `max_tokens` of them; the last one, a special token, stays."""
    return ids if len(ids) <= max_tokens else np.r_[ids[: max_tokens - 1], ids[-1:]]
