# %% [markdown]
# # 언어 모델
#
# 언어 모델은 한 가지 질문에 답합니다. 다음에 어떤 단어가 올까요? 이 노트북에서 볼 것은 다음과 같습니다.
#
# 1. **n-gram 빈도**를 세고 확률을 구합니다.
# 2. **빈도가 0인 문제**: 멀쩡한 문장인데 확률이 0이 됩니다.
# 3. **스무딩**: add-k, 보간, Kneser–Ney를 숫자로 비교합니다.
# 4. **퍼플렉시티**: 모델이 얼마나 좋은지 숫자 하나로 나타냅니다.
# 5. **문장 생성**: 온도를 바꿔 가며 문장을 만들어 봅니다.
# 6. **신경망 언어 모델**(Bengio 외 2003)과 룩업 테이블: 단어 벡터는 여기서 시작됐습니다.
#
# 인터넷 없이 1분 안에 끝납니다. 필요한 패키지는 `pip install "malmoi[train]" ipykernel`로 설치합니다.

# %%
import itertools
import random
import warnings

import numpy as np
from IPython.display import SVG

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.scatter_plot import scatter_plot
from malmoi.table import Table

warnings.simplefilter("ignore", mm.MalmoiWarning)  # 말뭉치가 작다는 경고: 일부러 작게 했습니다

STORY = """
고양이가 부엌에서 우유를 마신다
고양이가 소파에서 잔다
고양이가 정원에서 잔다
고양이가 정원에서 새를 본다
고양이가 공원에서 강아지를 본다
강아지가 정원에서 물을 마신다
강아지가 부엌에서 물을 마신다
강아지가 정원에서 잔다
강아지가 소파에서 잔다
강아지가 정원에서 고양이를 본다
강아지가 공원에서 달린다
강아지가 아침에 정원에서 달린다
누나가 부엌에서 차를 마신다
누나가 아침에 커피를 마신다
누나가 소파에서 책을 읽는다
누나가 아침에 책을 읽는다
누나가 부엌에서 신문을 읽는다
누나가 뜨거운 커피를 좋아한다
누나가 공원에서 달린다
형이 부엌에서 커피를 마신다
형이 아침에 차를 마신다
형이 공원에서 책을 읽는다
형이 소파에서 신문을 읽는다
형이 아침에 공원에서 달린다
형이 공원에서 새를 본다
형이 공원에서 커피를 산다
새가 정원에서 노래한다
새가 아침에 노래한다
새가 공원에서 물을 마신다
새가 정원에서 잔다
우리는 커피를 좋아한다
우리는 남산 타워에서 커피를 마신다
우리는 부엌에서 차를 마신다
우리는 남산 타워에서 신문을 읽는다
우리는 남산 타워에서 새를 본다
우리는 남산 타워에서 사진을 찍는다
누나가 남산 타워에서 책을 읽는다
형이 남산 타워에서 사진을 찍는다
강아지가 남산 타워에서 달린다
고양이가 부엌에서 논다
"""
HELD_OUT = """
강아지가 부엌에서 우유를 마신다
누나가 공원에서 새를 본다
형이 아침에 물을 마신다
고양이가 부엌에서 잔다
새가 공원에서 노래한다
우리는 정원에서 책을 읽는다
"""
lines = STORY.strip().splitlines()
held_out = [line.split() for line in HELD_OUT.strip().splitlines()]
counts = mm.count_ngrams(lines, order=3)
Table(
    "우리 글",
    ["", "개수"],
    [
        ["학습할 문장", len(lines)],
        ["따로 떼어 둔 문장", len(held_out)],
        ["서로 다른 단어", len(counts.trie.words) - 3],
        ["서로 다른 두 단어 쌍", counts.trie.sizes[1]],
        ["서로 다른 세 단어 쌍", counts.trie.sizes[2]],
    ],
)

# %% [markdown]
# ## 1. n-gram 세기
#
# 단어 n개가 이어진 것을 *n-gram*이라고 합니다. `<s>`와 `</s>`는 문장의 처음과 끝입니다. 여기서는 어절을 그대로
# 단어로 씁니다. 먼저 가장 흔한 두 단어 쌍(바이그램)을 보고, 행의 단어 다음에 열의 단어가 몇 번 왔는지
# 봅시다.

# %%
Table(
    "가장 흔한 바이그램",
    ["바이그램", "빈도"],
    [[" ".join(ngram), times] for ngram, times in counts.most_common(8, order=2)],
)

# %%
BEFORE = ["<s>", "누나가", "형이", "고양이가", "부엌에서", "아침에"]
AFTER = ["누나가", "형이", "부엌에서", "소파에서", "커피를", "차를", "책을"]
SVG(
    heat_map(
        [[float(counts.count([first, then])) for then in AFTER] for first in BEFORE],
        BEFORE,
        AFTER,
        title="바이그램 빈도",
        digits=0,
    )
)

# %% [markdown]
# 앞에 온 단어 $h$ 다음에 단어 $w$가 올 확률은, 가장 단순하게는 $h$ 다음에 온 것 가운데 $w$의 몫입니다
# (**최대 가능도 추정**).
#
# $$P(w \mid h) = \frac{C(h\,w)}{C(h)}$$
#
# 문장의 확률은 단어 확률의 곱입니다. 바이그램에서 $h$는 바로 앞 단어 하나입니다.

# %%
unsmoothed = mm.train_ngram(lines, mm.NGram(order=2, smoothing="none"))
SENTENCE = "누나가 부엌에서 차를 마신다".split()
path = ["<s>", *SENTENCE, "</s>"]
rows = [
    [
        f"P({then} | {first})",
        f"{counts.count([first, then])} / {counts.count([first])}",
        unsmoothed.probability(then, [first]),
    ]
    for first, then in itertools.pairwise(path)
]
product = float(np.prod([row[2] for row in rows]))
Table("문장의 확률을 단어마다", ["", "빈도", "P"], [*rows, ["곱", "", product]])

# %% [markdown]
# ## 2. 빈도가 0인 문제
#
# *고양이가 부엌에서 잔다*는 멀쩡한 문장이고 모르는 단어도 없습니다. 그런데 *부엌에서 잔다*가 글에 없어서 확률
# 하나가 0이 되고, 그러면 곱 전체가 0이 됩니다. 언어에서 두 단어 쌍은 대부분 드물고 세 단어 쌍은 거의
# 모두 드뭅니다. 글을 더 모으면 나아지지만 문제가 사라지지는 않습니다.

# %%
Table(
    "따로 떼어 둔 문장의 확률(스무딩 없는 바이그램)",
    ["문장", "본 적 없는 쌍", "P"],
    [
        [
            " ".join(words),
            ", ".join(
                f"{first} {then}"
                for first, then in itertools.pairwise(["<s>", *words, "</s>"])
                if not counts.count([first, then])
            ),
            float(np.exp(unsmoothed.sentence_log_probability(words))),
        ]
        for words in held_out
    ],
)

# %% [markdown]
# ## 3. 스무딩
#
# 본 것에서 조금 떼어 못 본 것에 나누어 줍니다.
#
# - **Add-k**는 모든 n-gram을 $k$번씩 더 본 셈 칩니다. $V$는 단어 수입니다.
#   $P(w \mid h) = \dfrac{C(h\,w) + k}{C(h) + kV}$.
# - **보간**은 여러 차수의 확률을 섞습니다. 쌍을 본 적이 없어도 뒤 단어 하나의 확률은 남습니다.
# - **Kneser–Ney**는 모든 빈도에서 $D$만큼 깎아 다시 나누어 줍니다. 이때 단어가 몇 번 나왔는지가 아니라
#   *서로 다른* 단어 몇 개 뒤에 왔는지를 봅니다.
#
# $$P(w \mid h) = \frac{\max(C(h\,w) - D, 0)}{C(h)} + \lambda(h)\, P_{\mathrm{cont}}(w),
# \qquad P_{\mathrm{cont}}(w) = \frac{|\{h' : C(h'\,w) > 0\}|}{|\{(h', w') : C(h'\,w') > 0\}|}.$$
#
# 영어 교과서에서는 *San Francisco*를 예로 듭니다. 우리 글에서는 *남산 타워에서*가 그렇습니다. *타워에서*는 7번,
# *커피를*은 6번 나옵니다. 그런데 *타워에서*는 *남산* 뒤에만 오고, *커피를*은 서로 다른 단어 여섯 개 뒤에
# 옵니다. 둘 다 본 적이 없는 *정원에서* 뒤라면 *커피를*이 더 그럴듯합니다. Kneser–Ney만 그렇게 답합니다.

# %%
SMOOTHINGS = {
    "없음": mm.NGram(order=2, smoothing="none"),
    "add-1": mm.NGram(order=2, smoothing="add-k", k=1.0),
    "add-0.1": mm.NGram(order=2, smoothing="add-k", k=0.1),
    "보간": mm.NGram(order=2, smoothing="interpolated"),
    "Kneser–Ney": mm.NGram(order=2, smoothing="kneser-ney"),
}
models = {name: mm.train_ngram(lines, settings) for name, settings in SMOOTHINGS.items()}
EVENTS = [
    "누나가 부엌에서",
    "남산 타워에서",
    "정원에서 타워에서",
    "정원에서 커피를",
    "부엌에서 잔다",
]
Table(
    "P(뒤 단어 | 앞 단어)",
    ["쌍", "빈도", *models],
    [
        [
            event,
            counts.count(event.split()),
            *(model.probability(event.split()[1], event.split()[:1]) for model in models.values()),
        ]
        for event in EVENTS
    ],
)

# %% [markdown]
# ## 4. 퍼플렉시티
#
# 모델이 얼마나 좋은지는 처음 보는 문장으로 잽니다. 단어마다 확률의 로그를 구해 부호를 바꾸고 평균합니다.
#
# $$\mathrm{PP} = \exp\Bigl(-\frac{1}{N} \sum_{i=1}^{N} \log P(w_i \mid h_i)\Bigr)$$
#
# 퍼플렉시티가 10이면 똑같이 그럴듯한 단어 10개 가운데 하나를 고르는 만큼 헷갈린다는 뜻입니다. 낮을수록
# 좋고, 확률이 0인 단어가 하나라도 있으면 무한대(inf)가 됩니다.

# %%
orders = [1, 2, 3]
perplexities = {
    name: [
        mm.train_ngram(
            lines, mm.NGram(order=order, smoothing=settings.smoothing, k=settings.k)
        ).perplexity(held_out)
        for order in orders
    ]
    for name, settings in SMOOTHINGS.items()
}
Table(
    "따로 떼어 둔 문장의 퍼플렉시티",
    ["스무딩", *(f"{order}-gram" for order in orders)],
    [[name, *(f"{value:.1f}" for value in values)] for name, values in perplexities.items()],
)

# %% [markdown]
# ## 5. 문장 생성
#
# 확률에 따라 다음 단어를 하나 뽑아 붙이고, `</s>`가 나올 때까지 되풀이합니다. **온도** $T$는 얼마나 과감하게
# 뽑을지 정합니다.
#
# $$P_T(w) = \frac{P(w)^{1/T}}{\sum_{w'} P(w')^{1/T}}$$
#
# 0에 가까우면 늘 가장 그럴듯한 단어가 나오고, 1이면 모델 그대로이고, 1보다 크면 드문 단어도 자주
# 나옵니다.


# %%
def generate(model, temperature, seed, max_words=12):
    """단어를 하나씩 뽑아 문장을 만듭니다."""
    drawn, words = np.random.default_rng(seed), []
    while len(words) < max_words:
        probabilities = model.distribution(["<s>", *words])
        probabilities[[model.trie.unknown, model.trie.begin]] = 0
        weights = (probabilities / probabilities.max()) ** (1 / temperature)
        row = int(drawn.choice(len(weights), p=weights / weights.sum()))
        if row == model.trie.end:
            break
        words.append(model.trie.words[row])
    return " ".join(words)


trigrams = mm.train_ngram(lines, mm.NGram(order=3))
Table(
    "Kneser–Ney 트라이그램이 만든 문장",
    ["온도", "문장"],
    [
        [str(temperature), generate(trigrams, temperature, seed)]
        for temperature in (0.1, 0.5, 1.0, 2.0)
        for seed in range(3)
    ],
)

# %% [markdown]
# ## 6. 신경망 언어 모델
#
# n-gram 모델에게 단어는 이름일 뿐입니다. *고양이가*에 관해 배운 것은 *강아지가*에 아무 도움이 되지 않습니다.
# Bengio 외(2003)는 단어마다 벡터를 하나씩 주었습니다. 이 벡터를 모은 **룩업 테이블** $C$에서 앞 단어의
# 벡터를 찾아, 신경망이 그 벡터로 다음 단어를 예측합니다.
#
# $$x = [C(w_{t-n+1}), \dots, C(w_{t-1})], \qquad h = \tanh(H x + d), \qquad
# P(w_t \mid \cdot) = \mathrm{softmax}(U h + W x + b).$$
#
# 테이블도 신경망과 함께 학습합니다. 뒤에 오는 단어가 비슷하면 벡터도 비슷해지고, 그러면 한 단어에서 배운
# 것이 다른 단어에도 통합니다.
#
# 확인하려면 규칙이 있는 글이 필요합니다. 아래 글에서 반려동물은 집에, 가축은 농장에 있습니다. 장소는
# 동물에서 세 단어 뒤에 나오므로 앞 두 단어만 보는 트라이그램은 동물을 보지 못합니다. 전체 조합의 4분의 1은
# 따로 떼어 둡니다. 조합은 모두 288개이고 문장마다 단어 6개와 끝이 있으니, 규칙을 아는 모델의
# 퍼플렉시티는 $288^{1/7} = 2.25$입니다.

# %%
PATTERNS = [
    [
        "고양이가 강아지가 햄스터가",
        "오늘도 아직도",
        "혼자 조용히",
        "부엌에서 침실에서 거실에서",
        "자고 먹고 걷고 쉬고",
        "있다",
    ],
    [
        "말이 소가 양이",
        "오늘도 아직도",
        "혼자 조용히",
        "들판에서 외양간에서 목장에서",
        "자고 먹고 걷고 쉬고",
        "있다",
    ],
]
texts = [
    list(words)
    for pattern in PATTERNS
    for words in itertools.product(*(slot.split() for slot in pattern))
]
random.Random(1).shuffle(texts)
unseen, seen = texts[: len(texts) // 4], texts[len(texts) // 4 :]
Table(
    "조합",
    ["", "개수", "첫 문장"],
    [
        ["학습할 조합", len(seen), " ".join(seen[0])],
        ["따로 떼어 둔 조합", len(unseen), " ".join(unseen[0])],
    ],
)

# %%
settings = mm.NNLM(
    context=5, dim=12, hidden=24, tied=False, dropout=0.0, softmax="full", epochs=60,
    batch_size=64, learning_rate=0.01, seed=1, threads=1,
)  # fmt: skip
nnlm = mm.train_nnlm(seen, settings)
Table(
    "신경망",
    ["", "", "모양"],
    [
        ["C", "룩업 테이블: 단어 × 차원", str(nnlm.layers.lookup.shape)],
        ["H", "은닉층: 유닛 × (문맥 · 차원)", str(nnlm.layers.hidden.shape)],
        ["U, W", "출력: 단어 × (유닛 + 문맥 · 차원)", str(nnlm.layers.output.shape)],
    ],
)

# %%
rows = [
    [f"Kneser–Ney {order}-gram", mm.train_ngram(seen, mm.NGram(order=order)).perplexity(unseen)]
    for order in (2, 3, 6)
]
Table(
    "본 적 없는 조합의 퍼플렉시티",
    ["모델", "퍼플렉시티"],
    [
        *rows,
        ["NNLM, 앞 단어 5개", nnlm.perplexity(unseen)],
        ["규칙 자체", len(texts) ** (1 / (len(texts[0]) + 1))],
    ],
)

# %% [markdown]
# 동물은 어디에 있을까요? *소가 오늘도 혼자* 다음 단어를 물어봅시다. 트라이그램은 *오늘도 혼자*만 보므로 모든
# 장소가 비슷합니다. 신경망은 동물까지 봅니다.

# %%
CONTEXT = "소가 오늘도 혼자".split()
by_trigrams = mm.train_ngram(seen, mm.NGram(order=3))
PLACES = "부엌에서 침실에서 거실에서 들판에서 외양간에서 목장에서".split()
Table(
    f"P(장소 | {' '.join(CONTEXT)})",
    ["장소", "트라이그램", "NNLM"],
    [
        [place, by_trigrams.probability(place, CONTEXT), nnlm.probability(place, CONTEXT)]
        for place in PLACES
    ],
)

# %% [markdown]
# ### 룩업 테이블
#
# 어떤 단어가 동물이고 어떤 단어가 동사인지 아무도 알려 주지 않았습니다. 그래도 룩업 테이블의 벡터는 알고
# 있습니다.

# %%
lookup = nnlm.vectors()
mm.neighbours(lookup, ["고양이가", "소가", "자고", "혼자"], k=3)

# %%
KINDS = {
    "반려동물": "고양이가 강아지가 햄스터가",
    "가축": "말이 소가 양이",
    "동사": "자고 먹고 걷고 쉬고",
    "그 밖": "오늘도 아직도 혼자 조용히 있다",
}
words = [word for several in KINDS.values() for word in several.split()]
groups = [kind for kind, several in KINDS.items() for _ in several.split()]
table = np.stack([lookup[word] for word in words])
centred = table - table.mean(axis=0)
directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
directions *= np.sign(directions.sum(axis=1, keepdims=True))
SVG(scatter_plot(centred @ directions.T, words, groups, title="룩업 테이블의 벡터"))

# %% [markdown]
# 10년 뒤에 나온 Word2Vec은 이 신경망에서 은닉층을 빼고 테이블만 남긴 것입니다. *단어를 벡터로* 노트북에서
# 이어집니다.
#
# ## 내 글로 해 보기
#
# 한 줄에 한 문장씩 적은 텍스트 파일을 이 노트북 옆에 두고, 아래에 파일 이름을 적은 다음 셀을 다시
# 실행하세요. 노랫말이나 요리법, 일기로 해 보면 재미있는 문장이 나옵니다.

# %%
from pathlib import Path

MY_FILE = "my-text.txt"
my_lines = Path(MY_FILE).read_text("utf-8").splitlines() if Path(MY_FILE).exists() else lines
mine = mm.train_ngram(my_lines, mm.NGram(order=3))
Table("내 문장", ["시드", "문장"], [[seed, generate(mine, 0.5, seed)] for seed in range(5)])
