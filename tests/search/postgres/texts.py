"""A few hundred short texts in English and Korean, with fields, the same each time."""

import re
from random import Random
from typing import Any

import malmoi as mm
from tests.search.worlds import TEXTS, BagOfWords

ENGLISH = re.findall(
    r"\w+",
    "bank river interest rate guitar sea price fall rise market train city music light cold warm"
    " bread water school child doctor night day road house tree garden letter window",
)
KOREAN = re.findall(
    r"\w+",
    "은행이 서울은 한국의 수도를 기타를 학교에서 아이가 의사는 밤에 낮에 길을 집은 나무가 편지를"
    " 창문을 물이 빵을 시장에서 가격은 음악을 바다로",
)
QUERIES = [
    "interest rate of the bank",
    "서울의 은행",
    "guitar 기타 음악",
    "the price of bread in the market",
    "나무가 있는 집",
    "children at school",
    "cold water",
    "unseen zebra",
    "바다",
    "bank bank bank 은행",
]
BAG = BagOfWords()


def drawn(count: int = 300) -> tuple[list[str], list[dict[str, Any]]]:
    """Texts and their fields; some texts occur twice, some are alike but for one word."""
    random, texts, fields = Random(3), list(TEXTS), [{"lang": "en"} for _ in TEXTS]
    while len(texts) < count:
        words = ENGLISH if random.random() < 0.6 else KOREAN
        text = " ".join(random.choices(words, k=random.randint(2, 12)))
        texts.append(random.choice(texts) if random.random() < 0.1 else text)
        made: dict[str, Any] = {"lang": "en" if words is ENGLISH else "ko"}
        if random.random() < 0.8:
            made["year"] = random.choice([2018, 2019.0, "2020", 2021, 2022.5])
        fields.append(made)
    return texts, fields


def same(one: mm.Hits, two: mm.Hits) -> None:
    """Whether two searches have the same hits in the same order."""
    assert [hit.id for hit in one] == [hit.id for hit in two]
    assert [(hit.text, hit.fields, hit.span) for hit in one] == [
        (hit.text, hit.fields, hit.span) for hit in two
    ]
    for hit, other in zip(one, two, strict=True):
        assert abs(hit.score - other.score) < 2e-6
    assert one.weight == two.weight
