"""Text for trainers: a path, documents, token lists, a Corpus or an EncodedCorpus, as ids."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from malmoi.kernels.marks import LINE_END
from malmoi.models.sentences import number_words
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, VocabularySettings, encode_corpus
from malmoi.text.tokenizers import Tokenizer, make_tokenizer
from malmoi.vocabulary import Vocabulary

# A file, a folder or "-" by its path, documents as strings, a corpus, or one that is encoded.
TextInput = str | Path | Iterable[str] | Corpus | EncodedCorpus
Sentences = TextInput | Iterable[Sequence[str]]  # also sentences as lists of tokens


def encode_text(
    text: TextInput,
    settings: VocabularySettings | None = None,
    tokenizer: Tokenizer | str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> EncodedCorpus:
    """Encode a text as ids; an `EncodedCorpus` is returned as it is."""
    if isinstance(text, EncodedCorpus):
        return text
    corpus = text if isinstance(text, Corpus) else Corpus.of(text)
    tokenize = make_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    return encode_corpus(corpus, tokenize, settings, reporter=reporter)


def encode_sentences(
    text: Sentences,
    tokenizer: Tokenizer | str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> EncodedCorpus:
    """Encode a text with all its words; sentences may also be lists of tokens."""
    if isinstance(text, str | Path | Corpus | EncodedCorpus):
        return encode_text(text, None, tokenizer, reporter)
    sentences = list(text)
    documents = [sentence for sentence in sentences if isinstance(sentence, str)]
    if documents and len(documents) == len(sentences):
        return encode_text(documents, None, tokenizer, reporter)
    return encode_token_lists(sentences)


def encode_token_lists(sentences: Iterable[Sequence[str]]) -> EncodedCorpus:
    """Encode sentences that are tokenized already."""
    words, stream = number_words(sentences)
    counts = np.bincount(stream[stream != LINE_END], minlength=len(words))
    vocabulary = Vocabulary.of(dict(zip(words, counts.tolist(), strict=True)))
    ids = np.r_[vocabulary.words.find_all(words), LINE_END].astype(np.uint32)
    return EncodedCorpus(ids[np.minimum(stream, len(words))], vocabulary)
