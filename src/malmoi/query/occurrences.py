"""Finds the occurrences of a word in texts, with words as a model's tokenizer splits them.

Two words are the same if the tokenizer normalizes them to the same, so that capitals matter only
where they do for the model. The query may be several words to the model (New York, don't), which
must then follow each other.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from malmoi.encode.tokens.text_stats import list_positions
from malmoi.encode.tokens.text_tokenizer import TextTokenizer
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import Keys
from malmoi.query.suggestions import near_spellings
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

HANGUL = ("가", "힣")  # the first and the last syllable
MAX_SUGGESTION_TEXTS = 10_000  # that are searched for similar spellings


@dataclass(frozen=True)
class WordSpan:
    """An occurrence: tokens `first` to `stop`, characters `begin` to `end` of a text.

    `text` is the index of the text.
    """

    text: int
    first: int
    stop: int
    begin: int
    end: int


def find_spans(
    tokenizer: TextTokenizer,
    word: str,
    texts: Sequence[str],
    *,
    prefix: bool | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> list[WordSpan]:
    """Every occurrence of a word, in the order of the texts.

    With `prefix`, longer words that begin with it count too. `None` means only if the word ends
    in Hangul, where particles are attached to it.

    Raises:
        UnknownWordError: The word does not occur.
        InvalidArgumentError: The tokenizer makes no token of the word.
    """
    form = comparable_form(tokenizer)
    (query,) = tokenizer([word])
    query_words = [form(part) for part in query.word_texts()]
    if not query_words:
        raise InvalidArgumentError(f"'{word}' is not a word: the tokenizer makes no token of it")
    if prefix is None:
        prefix = HANGUL[0] <= query.text.strip()[-1] <= HANGUL[1]
    spans, beyond = [], []
    for i, text in enumerate(texts):
        if query_words[0] not in form(text):  # much faster than tokenizing every text
            continue
        (tokens,) = tokenizer([text])
        spans += _within(tokens, i, query_words, form, prefix)
        if tokens.truncated and query_words[0] in form(text[tokens.offsets[:, 1].max() :]):
            beyond.append(i + 1)
    if beyond:
        reporter.warn(
            f"'{word}' occurs beyond the first {tokenizer.max_length} tokens of {len(beyond):,}"
            f" texts, which is as far as the model reads ({list_positions(beyond)})"
        )
    if not spans:
        raise UnknownWordError(
            word, _similar_words(tokenizer, word, texts), where=_where(len(texts))
        )
    return spans


def comparable_form(tokenizer: TextTokenizer) -> Callable[[str], str]:
    """A function that makes words comparable: normalized by the model, without punctuation."""

    def form(word: str) -> str:
        normal = tokenizer.fold(word)
        first = next((i for i, letter in enumerate(normal) if letter.isalnum()), None)
        if first is None:
            return normal.strip()
        last = next(i for i in range(len(normal), 0, -1) if normal[i - 1].isalnum())
        return normal[first:last]

    return form


def _within(
    tokens: Tokenized,
    text: int,
    query_words: Sequence[str],
    form: Callable[[str], str],
    prefix: bool,
) -> list[WordSpan]:
    words = [form(word) for word in tokens.word_texts()]
    count, spans = len(query_words), []
    for i in range(len(words) - count + 1):
        *before, last = words[i : i + count]
        same = last.startswith(query_words[-1]) if prefix else last == query_words[-1]
        if same and before == list(query_words[:-1]):
            begin, end = tokens.word_offsets[i, 0], tokens.word_offsets[i + count - 1, 1]
            first, stop = tokens.word_starts[i], tokens.word_stops[i + count - 1]
            spans.append(WordSpan(text, int(first), int(stop), int(begin), int(end)))
    return spans


def _similar_words(tokenizer: TextTokenizer, word: str, texts: Sequence[str]) -> list[str]:
    """Words of the texts with a similar spelling, the most frequent first."""
    tokenized = tokenizer(list(texts[:MAX_SUGGESTION_TEXTS]))
    counts = Counter(part for tokens in tokenized for part in tokens.word_texts())
    keys = [part for part, _ in counts.most_common() if part.strip()]
    return near_spellings(Keys.of(keys), word) if keys else []


def _where(count: int) -> str:
    return "the text" if count == 1 else f"any of the {count:,} texts"
