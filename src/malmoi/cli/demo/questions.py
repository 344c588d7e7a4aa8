"""A small index in `malmoi demo`: questions in Korean and English find the same answers."""

from typing import Any

from malmoi.cli.demo.sentences import KOREAN, Show
from malmoi.encode.loading import load_encoder
from malmoi.errors import MissingDependencyError
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.build import build_index

ANSWERS = (
    "비밀번호를 잊으면 로그인 화면에서 '비밀번호 찾기'를 누르세요.",
    "배송은 주문한 날부터 이틀이 걸립니다.",
    "받은 날부터 7일 안에 환불할 수 있습니다.",
    "Our shop is open from nine to six on weekdays.",
    "Parking is free for two hours.",
    "You can pay by card or by bank transfer.",
)
QUESTIONS = (
    "로그인 암호가 생각나지 않아요",
    "I forgot my password",
    "How long does delivery take?",
    "몇 시에 문을 여나요?",
)


def show_questions(show: Show) -> dict[str, str]:
    """Ask an index of answers; returns the best answer to each question."""
    try:
        encoder = load_encoder(KOREAN)
    except MissingDependencyError as missing:
        show(f"The index by {KOREAN} is skipped: {missing}\n")
        return {}
    index = build_index(encoder, ANSWERS, reporter=SilentReporter())
    best: dict[str, Any] = {question: index.search(question, 1)[0] for question in QUESTIONS}
    show(f"An index of {len(index)} answers in two languages, asked in both ({KOREAN}):")
    for question, hit in best.items():
        show(f"  {question}\n    {hit.score:.2f}  {hit.text}")
    show("")
    return {question: hit.text for question, hit in best.items()}
