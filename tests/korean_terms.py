"""Words that Korean pages avoid, with what to write instead, and particles that follow Latin words.

Patterns are searched in prose without code. A list is short on purpose: it holds what was once
written wrong, not a whole style guide (CONTRIBUTING.md has the check list for readers).
"""

import re

TRANSLATIONESE = {  # what reads like a translation → what to write
    r"되어[지진집져졌]": "됩니다",
    r"보여[지진집져졌]": "보입니다",
    r"쓰여[지진집져졌]": "쓰입니다",
    r"나뉘어[지진집져졌]": "나뉩니다",
    r"에 의(?:해|하여|한)": "주어를 밝혀 능동으로",
    r"당신": "생략하거나 '직접', '여러분'",
    r"그것": "가리키는 말을 그대로",
    r"[을를] (?:가집니다|가진다|가지며|가지고 있)": "있습니다",
    r"에 대해서": "을/를, 에 관해",
    r"(?:함에|데) 있어": "할 때",
    r"것이 가능": "할 수 있습니다",
    r"가장 .{1,20} 중 하나": "가장 …한 편입니다",
    r"(?:단어|문장|벡터|파일|토큰|모델|텍스트|값|결과|함수|명령|형태소|음절)들": "복수 '들' 없이",
}
WRONG = {  # a spelling → the right one
    r"메세지": "메시지",
    r"알고리듬": "알고리즘",
    r"컨텐[츠트]": "콘텐츠",
    r"디렉토리": "디렉터리",
    r"어플리케이션": "애플리케이션",
    r"라이센[스쓰]": "라이선스",
    r"쓰레드": "스레드",
    r"데이타": "데이터",
    r"캐쉬": "캐시",
    r"억세스": "액세스",
    r"토크나이져": "토크나이저",
    r"스무싱": "스무딩",
    r"퍼플렉서티": "퍼플렉시티",
    r"에포크": "에폭",
    r"윈도(?!우)": "윈도우",
    r"코퍼스": "말뭉치",
    r"인덱스": "색인",
    r"라벨": "레이블",
    r"쿼리": "질의",
    r"파인 ?튜닝": "미세 조정",
    r"레이어": "층",
    r"히든": "은닉",
    r"디폴트": "기본값",
    r"커맨드": "명령",
    r"엔그램|[nN]-?그램": "n-gram",
    r"서브 워드": "서브워드",
    r"갯수": "개수",
    r"몇일": "며칠",
    r"[첫두세네]번째": "첫 번째",
    r"[할될볼쓸줄낼올]수 ?[있없]": "할 수 있",
    r"(?:있을|없을|[할될쓸])때": "할 때",
    r"[을를] 통해서": "으로",
    r"파이썬": "Python",
    r"(?<!\w)id(?=[를가는로])": "ID",
    r"스피어만(?! 상관계수)": "스피어만 상관계수",
    r"뿐만아니라": "뿐만 아니라",
    r"왠만": "웬만",
    r"않[된되될]": "안 되",
}
# Latin words and digits by the sound that Korean readers end them with
VOWEL = (
    r"malmoi|(?:Distil|Ro|K\w*)?BERT|ELMo|GloVe|[Ff]astText|NumPy|Parquet|safetensors|LSA|CBOW|HTTP"
    r"|NF[CD]|Numba|(?:Py)?[Tt]orch|Keras|TensorFlow|faiss|pandas|Polars|[CG]PU|API|SVG|[CT]SV|P?PMI"
    r"|USE|use|SIF|PCA|t-SNE|Jupyter|OpenAI|WordPiece|ARPA|TEI|AllenNLP|ID|Docker|transformers"
)
CONSONANT = (
    r"(?:[Ww]ord|[Mm]odel)2[Vv]ec|gensim|[Mm]ini[Ll][Mm]|Python|JSON|Markdown|skip-gram|n-gram|KenLM"
    r"|SRILM|NNLM|LSTM|CNN|biLM|PaCMAP|WordNet|Chromium"
)
LIQUID = r"URL|HTML|SQL|YAML"  # end in ㄹ
PARTICLES = [  # words, last digits, and the wrong particle after them → the right one
    (VOWEL, "2459", {"을": "를", "은": "는", "이": "가", "과": "와", "으로": "로"}),
    (CONSONANT, "036", {"를": "을", "는": "은", "가": "이", "와": "과", "로": "으로"}),
    (LIQUID, "178", {"를": "을", "는": "은", "가": "이", "와": "과", "으로": "로"}),
]
AUTUMN = ("가을", "마을", "노을")  # nouns that end in 을 after a vowel


def wrong_particles(text: str) -> list[str]:
    """Particles that do not fit the sound before them, each with the one that does."""
    wrong = []
    for words, digits, particles in PARTICLES:
        before = rf"(?<!\w)(?:{words})|(?<![A-Za-z\d.,])\d[\d.,]*(?<=[{digits}])"
        pattern = rf"({before})({'|'.join(particles)})(?=[\s,.)]|$)"
        wrong += [f"{word}{one} → {particles[one]}" for word, one in re.findall(pattern, text)]
    for syllable, one in re.findall(r"([가-힣])([을를])(?=[\s,.)]|$)", text):
        has_final = (ord(syllable) - ord("가")) % 28 > 0
        if has_final == (one == "를") and syllable + one not in AUTUMN:
            wrong.append(f"{syllable}{one} → {'을' if has_final else '를'}")
    return wrong
