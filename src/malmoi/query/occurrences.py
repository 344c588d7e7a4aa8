"""Where a word stands in texts, word for word as a model reads them.

A word is what the model's tokenizer takes for one; two are the same if the tokenizer makes them
the same, so that capitals count only where they do for the model. What is asked for may itself be
several words to the model (New York, don't): then these must follow each other.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from malmoi.encode.tokens.text_stats import list_positions
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.encode.tokens.tokenizer import ModelTokenizer
from malmoi.errors import InvalidArgumentError, UnknownWordError, warn
from malmoi.keys import Keys
from malmoi.query.suggestions import near_spellings

HANGUL = ("가", "힣")  # the first syllable and the last
LOOKED_THROUGH = 10_000  # texts, for words that are spelled alike


@dataclass(frozen=True)
class WordSpan:
    """The tokens `first` to `stop` of a text are an occurrence; `begin` and `end` its characters.

    `text` numbers the texts from 0.
    """

    text: int
    first: int
    stop: int
    begin: int
    end: int


def find_spans(
    tokenizer: ModelTokenizer, word: str, texts: Sequence[str], *, prefix: bool | None = None
) -> list[WordSpan]:
    """Every occurrence of a word, in the order of the texts.

    With `prefix` a longer word that begins with it counts too; `None` means so for Hangul, where
    particles are written on to the word. That it occurs nowhere is an error.
    """
    form = former(tokenizer)
    (asked,) = tokenizer([word])
    wanted = [form(part) for part in asked.word_texts()]
    if not wanted:
        raise InvalidArgumentError(f"'{word}' is not a word: the tokenizer makes no token of it")
    if prefix is None:
        prefix = HANGUL[0] <= asked.text.strip()[-1] <= HANGUL[1]
    spans, beyond = [], []
    for i, text in enumerate(texts):
        if wanted[0] not in form(text):  # far quicker than cutting every text
            continue
        (tokens,) = tokenizer([text])
        spans += _within(tokens, i, wanted, form, prefix)
        if tokens.truncated and wanted[0] in form(text[tokens.offsets[:, 1].max() :]):
            beyond.append(i + 1)
    if beyond:
        warn(
            f"'{word}' occurs beyond the first {tokenizer.max_length} tokens of {len(beyond):,}"
            f" texts, which is as far as the model reads ({list_positions(beyond)})"
        )
    if not spans:
        raise UnknownWordError(word, _alike(tokenizer, word, texts), where=_where(len(texts)))
    return spans


def former(tokenizer: ModelTokenizer) -> Callable[[str], str]:
    """What makes words comparable: the model's own normalising, and nothing beside letters."""
    normalizer = tokenizer.backend.normalizer

    def form(word: str) -> str:
        uniform = str(tokenizer.normalize(word))
        normal: str = normalizer.normalize_str(uniform) if normalizer else uniform
        first = next((i for i, letter in enumerate(normal) if letter.isalnum()), None)
        if first is None:
            return normal.strip()
        last = next(i for i in range(len(normal), 0, -1) if normal[i - 1].isalnum())
        return normal[first:last]

    return form


def _within(
    tokens: Tokenized, text: int, wanted: Sequence[str], form: Callable[[str], str], prefix: bool
) -> list[WordSpan]:
    words = [form(word) for word in tokens.word_texts()]
    count, found = len(wanted), []
    for i in range(len(words) - count + 1):
        *before, last = words[i : i + count]
        same = last.startswith(wanted[-1]) if prefix else last == wanted[-1]
        if same and before == list(wanted[:-1]):
            begin, end = tokens.word_offsets[i, 0], tokens.word_offsets[i + count - 1, 1]
            first, stop = tokens.word_starts[i], tokens.word_stops[i + count - 1]
            found.append(WordSpan(text, int(first), int(stop), int(begin), int(end)))
    return found


def _alike(tokenizer: ModelTokenizer, word: str, texts: Sequence[str]) -> list[str]:
    """Words of the texts that are spelled nearly so, the most frequent first."""
    cut = tokenizer(list(texts[:LOOKED_THROUGH]))
    counts = Counter(part for tokens in cut for part in tokens.word_texts())
    keys = [part for part, _ in counts.most_common() if part.strip()]
    return near_spellings(Keys.of(keys), word) if keys else []


def _where(count: int) -> str:
    return "the text" if count == 1 else f"any of the {count:,} texts"
