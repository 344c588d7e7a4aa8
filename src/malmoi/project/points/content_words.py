"""The content words of texts: without function words; of Korean, nouns and adjectives.

Knows nothing of clusters.
"""

import re
import unicodedata
from collections.abc import Sequence

from malmoi.errors import MissingDependencyError
from malmoi.text.korean import Korean

WORD = re.compile(r"[^\W\d_]{2,}")
WORDS = re.compile(r"\w+")  # of a list
HANGUL = re.compile("[가-힣]")
MAX_ANALYSED_CHARS = 400  # of a text: its beginning says what it is about
ENGLISH_FUNCTION_WORDS = frozenset(
    WORDS.findall("""
    about above after again against ain all almost along already also although always am among an
    and another any anyone anything are aren around as at away back be became because become been
    before being below between both but by came can cannot come could couldn did didn do does doesn
    doing don done down during each either else enough even ever every everyone everything few for
    from further get gets getting go goes going gone got had hadn has hasn have haven having he her
    here hers herself him himself his how however if in instead into is isn it its itself just keep
    kept know let like ll made make makes many may maybe me might mine more most much must mustn my
    myself need neither never no none nor not nothing now of off often oh ok on once one only
    onto or other others our ours ourselves out over own per perhaps please put quite rather re
    really said same say says see seem seems several shall she should shouldn since so some someone
    something still such take tell than that the their theirs them themselves then there these they
    thing things this those though through thus to together too toward towards two under until up
    upon us use used using ve very via want wants was wasn way we well went were weren what whatever
    when where whether which while who whole whom whose why will with within without won would
    wouldn yes yet you your yours yourself yourselves
    """)
)
KOREAN_FUNCTION_WORDS = frozenset(
    WORDS.findall("""
    것 거 게 수 때 등 데 점 중 뿐 채 줄 바 적 번 개 명 분 주 함 곳 안 자
    편 쪽 밖 위 앞 뒤 속 후 전 날 들 저희 정도 경우 이번 저번 다음 때문 그것 이것
    저것 그거 이거 저거 여기 거기 저기 누구 무엇 뭐 언제 어디 어느 어떤 무슨 얼마 얼마나 몇 왜
    어떻게 어떡 그냥 너무 정말 진짜 아주 매우 조금 좀 많이 잘 더 또 다시 제일 가장 바로 혹시 지금
    그리고 그런데 근데 그래서 하지만 그러나 그러면 그럼 우리 나 너 저 내 네 제 자기 당신 이런 그런
    저런 모두 다 전부 모든 각 있다 없다 같다 이다 아니다 되다 하다 그렇다 이렇다 저렇다 어떻다 있는
    없는 하는 되는 같은 있어 없어 하고 해서 입니다 있습니다 합니다 알려줘 말해줘
    """)
)
KOREAN_TAGS = ("NNG", "NNP", "SL", "XR", "VA")  # nouns, foreign words, roots, adjectives
ADJECTIVE = "VA"
# Without kiwipiepy: what a noun may carry, longest first, and how verbs end.
PARTICLES = re.compile(
    "(?:으로부터|에서부터|이라는|이라고|으로는|에서는|에서도|이에요|이란|에서|에게|한테|께서|까지|부터|처럼"
    "|보다|마다|조차|밖에|이나|이랑|으로|라는|라고|에는|에도|하고|은|는|이|가|을|를|의|에|로|와|과|도|만|랑)$"
)
VERB_ENDINGS = re.compile(
    "(?:[다요까죠네니냐줘]|는데|지만|해서|아서|어서|려고|으면|하면|하는|되는|했던|한데|하게|해도|하기|할까)$"
)
MIN_STEM = 2  # syllables that a word keeps without its particle


def content_words(texts: Sequence[str]) -> list[set[str]]:
    """The set of content words of each text, in lower case.

    A text with Hangul is analysed by kiwipiepy if that is installed; adjectives are in their
    dictionary form. Otherwise particles are removed by their spelling, and verbs by theirs.
    """
    normalized = [
        unicodedata.normalize("NFC", text[:MAX_ANALYSED_CHARS]).casefold() for text in texts
    ]
    korean = [at for at, text in enumerate(normalized) if HANGUL.search(text)]
    words = [set(WORD.findall(text)) for text in normalized]
    for at, each in zip(korean, _korean_words([normalized[at] for at in korean]), strict=True):
        words[at] = each
    return [each - ENGLISH_FUNCTION_WORDS - KOREAN_FUNCTION_WORDS for each in words]


def _korean_words(texts: list[str]) -> list[set[str]]:
    if not texts:
        return []
    try:
        analysed = Korean(tags=True, keep=KOREAN_TAGS).many(texts)
    except MissingDependencyError:
        return [set(filter(None, map(_stem, WORD.findall(text)))) for text in texts]
    return [{_dictionary_form(one) for one in tagged} for tagged in analysed]


def _dictionary_form(tagged: str) -> str:
    """`예쁘/VA-I` as 예쁘다; a noun as it is."""
    form, _, tag = tagged.rpartition("/")
    return f"{form}다" if tag.startswith(ADJECTIVE) else form


def _stem(word: str) -> str:
    """A word without its particle; empty if it looks like a verb."""
    if not HANGUL.search(word):
        return word
    if VERB_ENDINGS.search(word):
        return ""
    stem = PARTICLES.sub("", word)
    return stem if len(stem) >= MIN_STEM else word
