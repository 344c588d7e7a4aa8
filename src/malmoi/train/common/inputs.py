"""What a training reads: a corpus of any kind, or one that is encoded already."""

from collections.abc import Iterable
from pathlib import Path

from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, VocabularySettings, encode_corpus
from malmoi.text.tokenizers import Tokenizer, make_tokenizer

Text = str | Path | Iterable[str] | Corpus | EncodedCorpus


def as_encoded(
    text: Text,
    choice: VocabularySettings,
    tokenizer: Tokenizer | str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> EncodedCorpus:
    """The text as ids: a file, a folder, lines; what is encoded already stays as it is."""
    if isinstance(text, EncodedCorpus):
        return text
    corpus = text if isinstance(text, Corpus) else Corpus.of(text)
    cut = make_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    return encode_corpus(corpus, cut, choice, reporter=reporter)
