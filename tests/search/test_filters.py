from typing import Any

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError
from malmoi.search.build import build_index
from malmoi.search.querying.filters import _first_relation, conditions
from malmoi.search.storage.columns import join_columns, make_columns
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


@pytest.mark.parametrize(
    "text", ["", " ", " " * 100_000, "a" * 100_000, "= 5", " =5", "a" * 9 + "!"]
)
def test_what_is_not_a_filter_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="write field=value"):
        conditions([text])


@pytest.mark.parametrize(
    "text", [" " * 200_000, "!" * 200_000, "a " * 100_000 + "!", "\t" * 100_000 + "! " * 50_000]
)
def test_each_character_of_a_filter_is_looked_at_once(text: str) -> None:
    class Counted(str):
        looks = 0

        def __getitem__(self, place: Any) -> str:
            Counted.looks += 1
            return str.__getitem__(self, place)

    assert _first_relation(Counted(text))[0] == ""
    assert Counted.looks <= 3 * len(text)
