"""Checks of requests against the limits; each raises `RequestError` with value and limit."""

from collections.abc import Sequence

from malmoi.encode.tokens.inputs import Text
from malmoi.query.analogy import parse_expression
from malmoi.serve.limits import Limits
from malmoi.serve.service.errors import RequestError


def check_texts(limits: Limits, texts: Sequence[str | list[str]], field: str) -> list[Text]:
    """Check the number and lengths of texts; return them, with pairs as tuples."""
    check_num_texts(limits, len(texts), field)
    checked: list[Text] = []
    for index, text in enumerate(texts):
        parts = (text,) if isinstance(text, str) else (text[0], text[1])
        length = max(map(len, parts))
        if length > limits.max_text_characters:
            raise RequestError(
                f"text {index} has {length:,} characters:"
                f" at most {limits.max_text_characters:,} are allowed",
                code="text_too_long",
                field=field,
            )
        checked.append(parts[0] if len(parts) == 1 else parts)
    return checked


def check_explained(limits: Limits, texts: Sequence[str], field: str) -> None:
    """Check the size of texts to explain: a text may be classified once without each word."""
    count = sum(map(len, texts))
    if count > limits.max_explained_characters:
        raise RequestError(
            f"the texts to explain have {count:,} characters: at most"
            f" {limits.max_explained_characters:,} are allowed; send fewer, or no explain",
            code="text_too_long",
            field=field,
        )


def check_num_texts(limits: Limits, count: int, field: str) -> None:
    """Check the number of texts."""
    if count > limits.max_texts:
        raise RequestError(
            f"the request has {count:,} texts: at most {limits.max_texts:,} are allowed",
            code="too_many_texts",
            field=field,
        )


def check_word(limits: Limits, word: str, field: str) -> None:
    """Check the length of a word."""
    if len(word) > limits.max_word_characters:
        raise RequestError(
            f"the word has {len(word):,} characters:"
            f" at most {limits.max_word_characters:,} are allowed",
            code="word_too_long",
            field=field,
        )


def check_expression(limits: Limits, expression: str) -> None:
    """Check the length of an analogy, the number of its words, and each word."""
    counts = {"characters": (len(expression), limits.max_expression_characters)}
    terms = parse_expression(expression) if len(expression) <= counts["characters"][1] else []
    counts["words"] = (len(terms), limits.max_expression_words)
    for unit, (count, limit) in counts.items():
        if count > limit:
            raise RequestError(
                f"the expression has {count:,} {unit}: at most {limit:,} are allowed",
                code="expression_too_long",
                field="expression",
            )
    for term in terms:
        check_word(limits, term.word, "expression")


def check_filters(limits: Limits, where: Sequence[str]) -> None:
    """Check the number of filters and their lengths."""
    if len(where) > limits.max_filters:
        raise RequestError(
            f"the request has {len(where):,} filters: at most {limits.max_filters:,} are allowed",
            code="too_many_filters",
            field="where",
        )
    for index, condition in enumerate(where):
        if len(condition) > limits.max_word_characters:
            raise RequestError(
                f"filter {index} has {len(condition):,} characters:"
                f" at most {limits.max_word_characters:,} are allowed",
                code="filter_too_long",
                field="where",
            )


def check_k(limits: Limits, k: int, field: str = "k") -> int:
    """Check the number of results; return it."""
    if k > limits.max_results:
        raise RequestError(
            f"{field} is {k:,}: at most {limits.max_results:,} results are allowed", field=field
        )
    return k
