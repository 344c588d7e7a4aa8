"""Some thousand Korean lines to train on, from words and patterns that were written for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from malmoi.cli.translation.particles import PARTICLES, with_particle
from malmoi.hangul import split_jamo


@dataclass(frozen=True)
class Topic:
    """Words that occur together, and the patterns in which they do.

    `{a}` is a thing of the topic, `{b}` a location; a particle behind it is written as after a
    consonant: `{a이}` is 고양이가, 강이.
    """

    things: str
    locations: str
    patterns: tuple[str, ...]


TOPICS = (
    Topic(
        "강아지 고양이 토끼 햄스터 앵무새 거북이",
        "마당 공원 거실 골목 산책로",
        (
            "{a이} {b}에서 꼬리를 흔들며 뛰어놀아요",
            "우리 집 {a은} {b}에서 낮잠을 자요",
            "{b}에서 {a을} 쓰다듬으니 기분이 좋아요",
            "{a에게} 사료와 간식을 주고 {b}에 나갔어요",
            "{a이} 아파서 동물병원에 데려갔어요",
            "귀여운 {a과} 함께 {b}에서 사진을 찍었어요",
        ),
    ),
    Topic(
        "통장 계좌 적금 대출 카드 환전",
        "은행 창구 지점 앱 홈페이지",
        (
            "{b}에서 {a을} 신청하려면 신분증이 필요해요",
            "{a은} {b}에서 바로 확인할 수 있어요",
            "비밀번호를 잊어서 {b}에서 {a을} 다시 만들었어요",
            "{b}에 가서 {a} 상담을 받았어요",
            "{a} 한도와 이자를 {b}에서 물어봤어요",
            "수수료 없이 {b}에서 {a을} 해지했어요",
        ),
    ),
    Topic(
        "감기 두통 기침 복통 알레르기 몸살",
        "병원 약국 보건소 응급실 진료실",
        (
            "{a} 때문에 {b}에서 진료를 받았어요",
            "{b}에서 {a} 약을 사흘 치 받았어요",
            "의사가 {a에는} 푹 쉬라고 {b}에서 말했어요",
            "{a이} 심해지면 바로 {b}에 오세요",
            "아이가 {a으로} 밤새 앓아서 {b}에 갔어요",
            "간호사가 {b}에서 {a} 증상을 물어봤어요",
        ),
    ),
    Topic(
        "김치찌개 된장찌개 비빔밥 냉면 칼국수 불고기",
        "식당 시장 분식집 골목집 구내식당",
        (
            "점심에 {b}에서 {a을} 맛있게 먹었어요",
            "{b} {a은} 국물이 시원하고 고소해요",
            "매운 {a을} 못 먹어서 {b}에서 덜 맵게 부탁했어요",
            "{b}에서 {a} 이 인분을 포장해 왔어요",
            "할머니가 끓여 주신 {a이} {b}보다 맛있어요",
            "{b}에 가면 늘 {a과} 밥을 주문해요",
        ),
    ),
    Topic(
        "버스 기차 지하철 택시 비행기 여객선",
        "정류장 역 공항 터미널 승강장",
        (
            "{b}에서 {a을} 놓쳐서 다음 차를 기다렸어요",
            "{a은} {b}에서 십 분마다 출발해요",
            "{b}까지 {a으로} 가면 삼십 분 걸려요",
            "{a} 요금은 {b}에서 카드로 냈어요",
            "{b}에 사람이 많아서 {a이} 늦게 도착했어요",
            "{a을} 타고 {b}에 내려서 조금 걸었어요",
        ),
    ),
    Topic(
        "배송 반품 교환 환불 주문 결제",
        "고객센터 매장 쇼핑몰 창고 물류센터",
        (
            "{a이} 늦어져서 {b}에 전화했어요",
            "{b}에서 {a을} 도와 드리겠습니다",
            "{a} 내역은 {b} 화면에서 볼 수 있습니다",
            "{b}에 물어보니 {a은} 사흘 걸린대요",
            "물건이 깨져서 {b}에 {a을} 부탁했어요",
            "{a} 신청은 {b}에서 칠 일 안에 하세요",
        ),
    ),
    Topic(
        "비 눈 소나기 안개 태풍 바람",
        "바닷가 산 들판 강변 언덕",
        (
            "{b}에 {a이} 와서 우산을 챙겼어요",
            "{a} 때문에 {b} 길이 미끄러워요",
            "내일은 {b에는} {a이} 그치고 맑겠습니다",
            "{b}에서 {a을} 맞아 옷이 젖었어요",
            "{a이} 심해서 {b에는} 가지 않기로 했어요",
            "날씨가 흐리더니 {b}에 {a이} 몰려왔어요",
        ),
    ),
    Topic(
        "수학 국어 영어 과학 역사 음악",
        "학교 교실 도서관 학원 강당",
        (
            "{b}에서 {a} 수업을 재미있게 들었어요",
            "{a} 숙제를 {b}에서 끝냈어요",
            "선생님이 {b}에서 {a을} 쉽게 가르쳐 주셨어요",
            "{a} 시험을 앞두고 {b}에서 공부했어요",
            "친구와 {b}에서 {a} 문제를 풀었어요",
            "{b}에서 {a} 책을 빌려 읽었어요",
        ),
    ),
)
TIMES = ("어제 ", "지난주에 ")


def korean_lines() -> Iterator[str]:
    """The lines of all topics: every thing in every location and pattern, some of them dated."""
    for topic in TOPICS:
        things, locations = topic.things.split(), topic.locations.split()
        for pattern, thing, location in product(topic.patterns, things, locations):
            line = filled(pattern, thing, location)
            yield line
            stem = line.removesuffix("어요")
            if split_jamo(stem).endswith("ㅆ") and not stem.endswith("있"):  # the past tense
                yield from (time + line for time in TIMES)


def filled(pattern: str, thing: str, location: str) -> str:
    """A pattern with its words, each with the form of its particle."""
    line, rest = "", pattern
    while "{" in rest:
        before, _, rest = rest.partition("{")
        mark, _, rest = rest.partition("}")
        word, particle = thing if mark[0] == "a" else location, mark[1:]
        line += before + word
        line += with_particle(word, particle) if particle in PARTICLES else particle
    return line + rest
