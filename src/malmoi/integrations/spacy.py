"""spaCy: word vectors as a folder that `spacy.load` reads; `malmoi convert … --to spacy`."""

from os import PathLike
from pathlib import Path

from malmoi.arguments import expect_path
from malmoi.encode.checkpoint.convert import folder_beside
from malmoi.errors import InvalidArgumentError
from malmoi.extras import required
from malmoi.formats.convert import ConvertSettings, read_selected
from malmoi.formats.reading import undecodable_rows
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors, expect_vectors

with required("spacy"):
    import spacy
    from spacy.language import Language
    from spacy.util import get_lang_class
    from spacy.vectors import Vectors as SpacyVectors

MULTILINGUAL = "xx"  # its tokenizer needs no other package; that of "ko" needs MeCab


def spacy_pipeline(
    vectors: Vectors, *, lang: str = MULTILINGUAL, reporter: Reporter = DEFAULT_REPORTER
) -> Language:
    """A blank pipeline of spaCy with these vectors: `nlp("text")[0].vector`.

    Args:
        vectors: Word vectors.
        lang: The language of the tokenizer, as for `spacy.blank`.
        reporter: Receives a warning for vectors with n-grams, which are not converted: spaCy's own
            subword vectors (floret) hash n-grams in another way.

    Returns:
        The pipeline.

    Raises:
        InvalidArgumentError: spaCy does not know the language, or a word is not UTF-8.
    """
    expect_vectors(vectors)
    try:
        get_lang_class(lang)
    except ImportError as error:
        raise InvalidArgumentError(f"spaCy has no language '{lang}': use 'en' or 'xx'") from error
    undecodable = undecodable_rows(vectors.keys)
    if len(undecodable):
        word = vectors.keys[int(undecodable[0])]
        raise InvalidArgumentError(f"spaCy cannot hold the word {word!r}, which is not UTF-8")
    if isinstance(vectors, SubwordVectors):
        reporter.warn(
            "spaCy's vectors cannot hold n-grams of fastText: unseen words will have no vector"
        )
    nlp = spacy.blank(lang)
    words = list(vectors.keys)
    for word in words:
        nlp.vocab.strings.add(word)
    nlp.vocab.vectors = SpacyVectors(
        strings=nlp.vocab.strings, data=vectors.matrix, keys=words, name="malmoi"
    )
    return nlp


def save_spacy(
    vectors: Vectors,
    path: str | PathLike[str],
    *,
    lang: str = MULTILINGUAL,
    reporter: Reporter = DEFAULT_REPORTER,
) -> None:
    """Write vectors as a folder for `spacy.load`, and for `[initialize] vectors` of a training.

    Args:
        vectors: Word vectors.
        path: The folder to write, which must not exist. It is complete or does not exist.
        lang: The language of the tokenizer, as for `spacy.blank`.
        reporter: Receives a warning for vectors with n-grams.

    Raises:
        InvalidArgumentError: spaCy does not know the language, or a word is not UTF-8.
        InvalidFileError: The folder exists or cannot be written.
    """
    target = expect_path(path)
    nlp = spacy_pipeline(vectors, lang=lang, reporter=reporter)
    with folder_beside(target) as part:
        nlp.to_disk(part)


def convert_to_spacy(
    source: str | PathLike[str],
    target: Path,
    settings: ConvertSettings,
    *,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vectors:
    """`convert` to a folder of spaCy: read vectors in any format, select, and write them."""
    vectors = read_selected(source, settings, reporter=reporter)
    save_spacy(vectors, target, reporter=reporter)
    return vectors
