"""What is asked of words and indexes, within limits."""

from collections.abc import Sequence

from malmoi.query.analogy import parse_expression
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.limits import Limits


def check_word(limits: Limits, word: str, parameter: str) -> None:
    """Refuse a word that is longer than any."""
    if len(word) > limits.word:
        sentence = f"the word has {len(word):,} characters: {limits.word:,} may be sent"
        raise ApiError(400, sentence, code="word_too_long", parameter=parameter)


def check_expression(limits: Limits, expression: str) -> None:
    """Refuse an analogy that is too long, of too many words, or of a word that is too long."""
    size, parameter = len(expression), "expression"
    if size > limits.expression:
        sentence = f"the expression has {size:,} characters: {limits.expression:,} may be sent"
        raise ApiError(400, sentence, code="expression_too_long", parameter=parameter)
    terms = parse_expression(expression)
    if len(terms) > limits.terms:
        sentence = f"the expression has {len(terms):,} words: {limits.terms:,} may be sent"
        raise ApiError(400, sentence, code="expression_too_long", parameter=parameter)
    for term in terms:
        check_word(limits, term.word, parameter)


def check_filters(limits: Limits, where: Sequence[str]) -> None:
    """Refuse filters that are too many or too long."""
    if len(where) > limits.filters:
        sentence = f"{len(where):,} filters are too many: {limits.filters:,} may be sent"
        raise ApiError(400, sentence, code="too_many_filters", parameter="where")
    for place, one in enumerate(where):
        if len(one) > limits.word:
            sentence = f"filter {place} has {len(one):,} characters: {limits.word:,} may be sent"
            raise ApiError(400, sentence, code="filter_too_long", parameter="where")
