"""Extends the vocabulary of a model: new tokens, their rows, and the folder with both."""

import shlex
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any, cast

import numpy as np

from malmoi.arguments import expect_path, settings_or_default
from malmoi.arrays import Float64Array
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import correlation
from malmoi.evaluate.sentences import pair_cosines
from malmoi.evaluate.sets.sentence_sets import PairSource, SentenceSet, read_sentences
from malmoi.reporting.reporter import (
    DEFAULT_REPORTER,
    Reporter,
    SilentReporter,
    expect_reporter,
)
from malmoi.text.corpus import Corpus
from malmoi.text_inputs import TextLike
from malmoi.tune.extend.coverage import Coverage, measure_coverage, sample_texts
from malmoi.tune.extend.folder import extended_folder
from malmoi.tune.extend.mixture import Mixture, mix_tokens
from malmoi.tune.extend.new_tokens import (
    HANGUL,
    NewTokens,
    learn_new_tokens,
    read_vocabulary,
)
from malmoi.tune.extend.result import DevComparison, ExtendResult, extension_card
from malmoi.tune.extend.settings import ExtendSettings
from malmoi.tune.extend.tokenizer_files import extensible_tokenizer, with_tokens
from malmoi.tune.extend.translations import read_sentences_of, translate_tokens
from malmoi.tune.model_card import changed_settings, option_words
from malmoi.tune.result import compare
from malmoi.tune.saving import CARD, check_target

EXAMPLES = (
    "강아지", "남자", "비행기", "연주", "은행", "커피", "병원", "사랑", "대통령", "컴퓨터"
)  # fmt: skip
TokenTexts = str | Path | Corpus | Iterable[TextLike] | Sequence[Path]


def extend_vocabulary(
    model: str,
    out: str | PathLike[str],
    settings: ExtendSettings | None = None,
    *,
    vocabulary: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    texts: TokenTexts | None = None,
    dev: Sequence[PairSource] = (),
    reporter: Reporter = DEFAULT_REPORTER,
) -> ExtendResult:
    """Add tokens of another language to a model of the BERT family, without training it.

    The row of a new token is the softmax mean of the rows of those known tokens that are nearest
    to it in an encoder that reads both languages. Known tokens and the weights of all layers stay
    as they are, so that texts of Latin letters keep their vectors.

    Args:
        model: A model with a WordPiece vocabulary: a folder, a name on the Hub, or `minilm`.
        out: The folder to write; it must not exist yet.
        settings: Which tokens to add and how to mix rows; the defaults of `ExtendSettings` if not
            given.
        vocabulary: A file of WordPiece tokens, one per line, or several.
        texts: Texts to learn tokens from: a file, a folder, a `Corpus`, a list of texts, or a list
            of paths.
        dev: Sets of pairs with scores, to compare the model before and after.
        reporter: Receives progress and warnings.

    Returns:
        Counts of tokens, examples of new rows, and scores before and after.

    Raises:
        InvalidArgumentError: There is no source of tokens, no new token, or the model's
            vocabulary is not WordPiece.
        InvalidFileError: A file cannot be read, `out` exists, or it cannot be written.
        MissingDependencyError: A package for one of the models is not installed.
    """
    settings, start = settings_or_default(settings, ExtendSettings), monotonic()
    folder = expect_path(out, "out")
    expect_reporter(reporter)
    check_target(folder)
    files = _paths(vocabulary)
    corpora = [] if texts is None else _corpora(texts, settings.field)
    if not files and not corpora:
        raise InvalidArgumentError(
            "there is no source of new tokens: pass a vocabulary with one token per line, or texts"
        )
    sets = [read_sentences(one) for one in dev]
    sentences = read_sentences_of(settings.parallel, reporter)
    encoder = load_transformer(model)
    tokenizer = extensible_tokenizer(encoder)
    new = _new_tokens(tokenizer, files, corpora, settings, reporter)
    mixture = mix_tokens(
        new.tokens, tokenizer, load_encoder(settings.through), settings, reporter=reporter
    )
    more = with_tokens(tokenizer, new.tokens)
    if sentences:
        k = settings.neighbours
        mixture = mixture.with_translations(
            translate_tokens(sentences, more, mixture.first, k, reporter)
        )
    with extended_folder(encoder, folder, more, mixture) as part:
        extended = load_transformer(str(part))
        result = ExtendResult(
            folder=folder,
            model=model,
            through=settings.through,
            added=dict(new.added),
            skipped=dict(new.skipped),
            vocab_size=extended.config.vocab_size,
            examples=_examples(new.tokens, mixture, tokenizer),
            coverage=_coverage(encoder, extended, corpora, sets),
            dev=tuple(_compare(encoder, extended, one, reporter) for one in sets),
            seconds=monotonic() - start,
            command=_command(model, folder, settings, files, corpora),
        )
        (part / CARD).write_text(extension_card(result), encoding="utf-8")
    return result


def _new_tokens(
    tokenizer: Any,
    files: Sequence[Path],
    corpora: Sequence[Corpus],
    settings: ExtendSettings,
    reporter: Reporter,
) -> NewTokens:
    """The tokens of all sources, in this order: files, texts, single syllables."""
    new, seen = NewTokens(tokenizer), set[str]()
    for path in files:
        new.add(read_vocabulary(path), path.name)
    if corpora:
        tokens, seen = learn_new_tokens(corpora, tokenizer, settings.size, reporter)
        new.add(tokens, "the texts")
    if not new.tokens:
        counts = ", ".join(f"{count:,} {reason}" for reason, count in new.skipped.items())
        raise InvalidArgumentError(
            f"no token is new to the vocabulary: {counts or 'there are none'}"
        )
    if any(map(HANGUL.search, new.tokens)):
        new.add_syllables(settings.syllables, seen)
    return new


def _examples(
    tokens: Sequence[str], mixture: Mixture, tokenizer: Any
) -> dict[str, list[tuple[str, float]]]:
    """Some new tokens, and the known tokens that their rows are made of."""
    rows = {token: row for row, token in enumerate(tokens)}
    chosen = [token for token in EXAMPLES if token in rows] or list(tokens[: len(EXAMPLES)])
    return {token: mixture.neighbours(rows[token], tokenizer.id_to_token) for token in chosen}


def _coverage(
    before: TransformerEncoder,
    after: TransformerEncoder,
    corpora: Sequence[Corpus],
    sets: Sequence[SentenceSet],
) -> tuple[Coverage, Coverage] | None:
    """How both tokenizers split a sample of the texts, or else of the dev sets."""
    sample = sample_texts(text for corpus in corpora for text in corpus.texts)
    if not corpora:
        sample = sample_texts(text for one in sets for pair in one.pairs for text in pair[:2])
    if not sample:
        return None
    return measure_coverage(before, sample), measure_coverage(after, sample)


def _compare(
    before: TransformerEncoder, after: TransformerEncoder, pairs: SentenceSet, reporter: Reporter
) -> DevComparison:
    """The scores of both models on a dev set; only the extended one is expected to read it."""
    scores = np.array([pair.score for pair in pairs.pairs], np.float64)
    first = _cosines(before, pairs, SilentReporter())
    second = _cosines(after, pairs, reporter)
    return DevComparison(
        name=pairs.name,
        before=correlation(first, scores, len(scores)),
        after=correlation(second, scores, len(scores)),
        difference=compare(first, second, scores),
    )


def _cosines(encoder: TransformerEncoder, pairs: SentenceSet, reporter: Reporter) -> Float64Array:
    texts = [text for pair in pairs.pairs for text in pair[:2]]
    vectors = encoder.encode(texts, reporter=reporter)
    return np.nan_to_num(pair_cosines(vectors[::2], vectors[1::2]))


def _paths(paths: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    several = paths if isinstance(paths, list | tuple) else [paths]
    return [expect_path(path, "vocabulary") for path in several]


def _corpora(texts: TokenTexts, field: str | None) -> list[Corpus]:
    """One corpus, or one per path of a list."""
    if isinstance(texts, Corpus):
        return [texts]
    if isinstance(texts, list) and texts and all(isinstance(one, Path) for one in texts):
        return [Corpus.of(path, field=field) for path in texts]
    return [Corpus.of(cast(Iterable[TextLike], texts), field=field)]


def _command(
    model: str,
    out: Path,
    settings: ExtendSettings,
    files: Sequence[Path],
    corpora: Sequence[Corpus],
) -> str:
    """The command that does the same; texts that are not in files are TEXTS there."""
    words = ["malmoi", "tune", "extend", "--model", model, "--out", str(out)]
    words += [word for path in files for word in ("--vocabulary", str(path))]
    for corpus in corpora:
        paths = [str(reader.path) for reader in corpus.readers] or ["TEXTS"]
        words += [word for path in paths for word in ("--texts", path)]
    return shlex.join([*words, *option_words(changed_settings(settings))])
