"""Texts of all examples as numbers and token ids: each different text is tokenized once."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.loading import load_encoder
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.batches import NumberedExamples
from malmoi.tune.data.examples import ExampleSet

CHUNK_TEXTS = 4096  # tokenized at a time


@dataclass(frozen=True, eq=False)
class NumberedData:
    """Token ids by the number of the text, the examples, and the pairs of the dev set."""

    token_ids: list[Int32Array]
    sets: tuple[NumberedExamples, ...]
    dev_texts: Int64Array  # [pairs, 2]
    dev_scores: Float64Array  # [pairs]

    @property
    def digest(self) -> str:
        """A digest of all of it: two runs on the same data have the same."""
        digest = blake2b(digest_size=16)
        arrays = [*self.token_ids, self.dev_texts, self.dev_scores]
        for one in self.sets:
            arrays += [one.texts, one.labels]
        for array in arrays:
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        return digest.hexdigest()


def number_data(
    encoder: TransformerEncoder,
    sets: Sequence[ExampleSet],
    dev: SentenceSet | None,
    teacher: str | None,
    reporter: Reporter,
) -> NumberedData:
    """Number and tokenize all texts; texts that a model cannot read whole are reported."""
    pairs = dev.pairs if dev else ()
    columns = [text for one in sets for row in one.texts for text in row]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(columns))}
    for pair in pairs:
        for text in pair[:2]:
            numbers.setdefault(text, len(numbers))
    token_ids = tokenize_texts(encoder, list(numbers), reporter)
    lengths = np.array([len(ids) for ids in token_ids], np.int64)
    numbered = []
    for one in sets:
        texts = np.array([[numbers[text] for text in row] for row in one.texts], np.int64)
        labels = one.labels.astype(np.float32)
        if one.objective == "mse" and teacher is not None:
            labels = _teacher_vectors(encoder, teacher, [row[0] for row in one.texts], reporter)
        tokens = lengths[texts].sum(axis=1)
        numbered.append(NumberedExamples(texts, tokens, labels, one.objective))
    dev_texts = np.array([[numbers[a], numbers[b]] for a, b, _ in pairs], np.int64)
    scores = np.array([pair.score for pair in pairs])
    return NumberedData(token_ids, tuple(numbered), dev_texts.reshape(-1, 2), scores)


def tokenize_texts(
    encoder: TransformerEncoder, texts: Sequence[str], reporter: Reporter
) -> list[Int32Array]:
    """The token ids of texts, as an encoder reads them; it reports what it cannot read."""
    prompt, stats = encoder.prompt_text(None), TextStats()
    progress = reporter.stage("tokenizing", "texts")
    token_ids: list[Int32Array] = []
    for start in range(0, len(texts), CHUNK_TEXTS):
        encoded = encoder.pipeline.tokenize(texts[start : start + CHUNK_TEXTS], prompt=prompt)
        encoder.pipeline.count(encoded, stats)
        token_ids += [np.array(encoding.ids, np.int32) for encoding in encoded.encodings]
        progress(len(token_ids), len(texts))
    reporter.inputs(encoder.name, stats)
    for text, ids in zip(texts, token_ids, strict=True):
        if not len(ids):
            raise InvalidArgumentError(
                f"{encoder.name} has no token for the text '{text[:40]}': leave it out"
            )
    return token_ids


def _teacher_vectors(
    encoder: TransformerEncoder, teacher: str, texts: list[str], reporter: Reporter
) -> Float32Array:
    vectors = load_encoder(teacher).encode(texts, reporter=reporter)
    if vectors.shape[1] != encoder.dim:
        raise InvalidArgumentError(
            f"the vectors of the teacher {teacher} have {vectors.shape[1]} dimensions and those of"
            f" {encoder.name} {encoder.dim}: choose a teacher with {encoder.dim}"
        )
    return vectors
