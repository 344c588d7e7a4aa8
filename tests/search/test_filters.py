import numpy as np
import pytest

from malmoi.search.building import build_index
from malmoi.search.columns import join_columns, make_columns
from malmoi.search.filters import conditions
from tests.search.worlds import FIELDS, TEXTS, BagOfWords


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"lang": "ko"}, {3, 4}),
        ({"lang": ["ko", "mixed"]}, {3, 4, 5}),
        ({"lang": "en", "topic": "money"}, {0, 7}),
        ({"year": 2019}, {0, 4}),
        ({"year": "2019"}, {0, 4}),
        ({"year": 2018}, {3}),
        ({"year": 2020}, {2}),
        ({"draft": True}, {4}),
        ("draft=true", {4}),
        ("lang=ko", {3, 4}),
        ("lang != en", {3, 4, 5}),
        ("topic!=money", {1, 2, 3, 4, 5, 6}),
        ("year>=2019", {0, 2, 4}),
        ("year>2019", {2}),
        ("year<2018.5", {1, 3}),
        ("date>=2021-01-01", {7}),
        (["lang=en", "date<2021"], set()),
        (["lang=en", "date<2021-01-01"], {6}),
        ({"lang": "fr"}, set()),
    ],
)
def test_conditions_choose_rows(where: object, expected: set[int]) -> None:
    index = build_index(BagOfWords(), TEXTS, fields=FIELDS)
    found = index.search("bank", 99, where=where)  # type: ignore[arg-type]
    assert {int(hit.id) for hit in found} == expected


def test_joined_columns_say_what_their_parts_said() -> None:
    first, second = make_columns(FIELDS[:4]), make_columns(FIELDS[4:])
    joined = join_columns([(first, np.array([3, 1])), (second, np.array([0, 3]))])
    rows = [FIELDS[3], FIELDS[1], FIELDS[4], FIELDS[7]]
    for row, fields in enumerate(rows):
        said = {name: it.value(row) for name, it in joined.items() if it.codes[row]}
        assert said == fields


def test_a_value_may_hold_a_sign() -> None:
    (condition,) = conditions("url=https://a.b/?x=1&y>=2")
    assert (condition.field, condition.relation) == ("url", "=")
    assert condition.values == ("https://a.b/?x=1&y>=2",)
