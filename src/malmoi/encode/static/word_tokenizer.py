"""Texts cut into the words of vectors: as their training did, or as their words look."""

from collections.abc import Iterable, Iterator

from malmoi.errors import InvalidArgumentError
from malmoi.subwords import has_hangul
from malmoi.text.tokenizers import English, Tokenizer, make_tokenizer, tokenizer_from
from malmoi.vectors import Vectors

LOOKED_AT = 2000  # rows, the most frequent words
PARTICLES = ("은", "는", "을", "를", "에서", "으로")  # never words by themselves in Korean


def choose_tokenizer(vectors: Vectors, asked: str | Tokenizer | None) -> Tokenizer:
    """The tokenizer asked for; or what the vectors were trained with; or what their words ask for.

    Vectors that do not say it and hold Korean particles as words are of morphemes. All others
    are cut into words and numbers: in lower case if no word has a capital, with punctuation and
    with 's and n't by themselves if these have vectors.
    """
    if asked is not None:
        return make_tokenizer(asked) if isinstance(asked, str) else asked
    if said := vectors.meta.get("tokenizer"):
        try:
            return tokenizer_from(said)
        except (ValueError, TypeError, AttributeError) as error:
            raise InvalidArgumentError(
                f"the vectors say they were cut by '{said}', which is no tokenizer: name one"
            ) from error
    common = set(vectors.keys[:LOOKED_AT])
    if any(map(has_hangul, common)) and sum(word in common for word in PARTICLES) > 3:
        return make_tokenizer("korean")
    lower = not any(any(map(str.isupper, word)) for word in common)
    return English(lower=lower, marks="." in common, clitics="'s" in common)


def words_of(texts: Iterable[str], tokenizer: Tokenizer) -> Iterator[list[str]]:
    """The words of each text; many at a time where the tokenizer can."""
    yield from tokenizer.many(texts)
