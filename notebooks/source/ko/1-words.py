# %% [markdown]
# # 단어를 벡터로
#
# 이 노트북에서는 단어를 벡터로 바꾸는 방법을 차례로 살펴봅니다. 숫자는 모두 손으로 확인할 수 있습니다.
#
# 1. **원-핫** 벡터: 어떤 두 단어도 서로 닮지 않습니다.
# 2. **동시 등장**: 단어 곁에 무엇이 오는지 세고, GloVe 논문의 얼음/수증기 표를 만들어 봅니다.
# 3. **PPMI와 LSA**: 빈도를 짧고 조밀한 벡터로 바꿉니다.
# 4. **Word2Vec**: 학습 쌍과 네거티브 샘플, 손실을 들여다봅니다.
# 5. **GloVe**: 벡터의 차이가 비율의 로그가 됩니다.
# 6. **FastText**: n-gram과 자모로 오타와 처음 보는 단어를 이해합니다.
# 7. **유추**와 지도: 60억 단어로 학습한 벡터를 씁니다.
#
# 인터넷 없이 1분 안에 끝납니다. 필요한 패키지는
# `pip install "malmoi[models,korean]" ipykernel`로 설치합니다.

# %%
import json

import numpy as np
from IPython.display import SVG

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.line_plot import line_plot
from malmoi.plots.scatter_plot import scatter_plot
from malmoi.table import Table

TOPICS = {
    "얼음과 수증기": """
얼음은 고체이다
차가운 얼음은 단단한 고체이다
얼음은 물의 고체 상태이다
물이 얼면 고체인 얼음이 된다
고체인 얼음은 차갑다
단단한 얼음도 고체이다
겨울에는 고체인 얼음이 호수를 덮는다
얼음이 녹으면 물이 된다
얼음은 물 위에 뜬다
차가운 물에 얼음을 넣는다
눈과 얼음은 차갑다
얼음은 기체가 아니다
올해는 얼음 빙수가 유행이다
수증기는 기체이다
뜨거운 수증기는 기체이다
수증기는 물의 기체 상태이다
물이 끓으면 기체인 수증기가 된다
뜨거운 기체인 수증기가 방을 채운다
주전자에서 기체인 수증기가 나온다
수증기가 식으면 물이 된다
뜨거운 수증기가 주전자에서 올라온다
뜨거운 수증기로 기관차가 달린다
수증기는 고체가 아니다
올해는 수증기 찜질이 유행이다
""",
    "호수": """
어부가 배를 타고 호수로 낚시를 간다
어부는 호수에서 송어와 연어를 낚는다
어부가 항구에서 연어와 송어를 판다
그물을 실은 배가 항구를 떠난다
어부가 배 옆에서 그물을 손질한다
송어와 연어가 그물에 걸린다
어부는 배에서 그물로 연어와 송어를 잡는다
송어를 가득 실은 배가 항구로 돌아온다
""",
    "빵집": """
제빵사가 오븐에 빵과 케이크를 굽는다
오븐에서 갓 나온 빵이 따뜻하다
밀가루와 버터로 케이크를 만든다
제빵사는 밀가루와 버터로 빵을 반죽한다
아침에는 빵에 버터를 바른다
오븐에서 케이크가 부푼다
빵집에서 제빵사가 빵과 케이크를 판다
방앗간의 밀가루가 오븐에서 빵이 된다
""",
    "전기": """
전기가 전선을 따라 전등으로 흐른다
전기가 전등을 켜고 전동기를 돌린다
전기 기사가 전선을 깐다
배터리가 전선으로 전기를 보낸다
전동기와 전등에는 전기가 필요하다
전기 기사가 전등의 전선을 고친다
배터리가 전동기를 돌린다
배터리의 전기가 전동기로 흐른다
""",
}
TOKENIZER = "korean"
split = mm.make_tokenizer(TOKENIZER)
sentences = [line for text in TOPICS.values() for line in text.strip().splitlines()]
Table(
    "우리 말뭉치",
    ["주제", "문장 수", "첫 문장"],
    [
        [topic, len(text.strip().splitlines()), text.strip().splitlines()[0]]
        for topic, text in TOPICS.items()
    ],
)

# %% [markdown]
# ## 1. 원-핫 벡터
#
# 가장 단순한 단어 벡터는 어휘의 단어 수만큼 숫자를 둡니다. 자기 자리만 1이고 나머지는 모두 0입니다.
#
# $$x_i = (0, \dots, 0, \underset{i}{1}, 0, \dots, 0), \qquad x_i \cdot x_j = 0 \quad (i \ne j).$$
#
# 어느 단어인지는 알려 주지만 그뿐입니다. *빵*은 *케이크*와도 *전기*와도 똑같이 멉니다. 어휘가 40만 개면
# 단어 하나에 숫자 40만 개가 필요합니다. 아래에서 토큰은 형태소입니다. 한국어는 조사와 어미를 떼어
# 내야 같은 단어를 같은 단어로 셀 수 있습니다.

# %%
example = "제빵사가 빵과 빵을 굽는다"
encoded = mm.one_hot([example], tokenizer=TOKENIZER)
Table(
    "토큰마다 한 줄",
    ["토큰", *encoded.index],
    [
        [token, *(int(number) for number in row)]
        for token, row in zip(split(example), encoded.dense(), strict=True)
    ],
)

# %% [markdown]
# ## 2. 동시 등장
#
# *단어는 함께 다니는 단어를 보면 안다*고 합니다(Firth 1957). 글을 *윈도우*로 훑으면서 단어 $i$에서 몇 단어
# 안에 단어 $k$가 몇 번 나오는지 셉니다. 이 횟수가 $X_{ik}$입니다. 비슷한 단어와 함께 다니면 행도
# 비슷해집니다. 여기서는 윈도우를 5로 하고, 안에 든 단어를 모두 한 번으로 셉니다.
#
# ![양옆 두 단어가 가운데 단어의 문맥이다](../../docs/ko/word2vec-window.svg)

# %%
counts = mm.count_cooccurrences(
    sentences, mm.Cooccurrence(window=5, weighting="flat"), tokenizer=TOKENIZER
)
WORDS = ["얼음", "수증기", "송어", "연어", "빵", "케이크", "전등", "전동기"]
CONTEXTS = ["고체", "기체", "물", "그물", "오븐", "밀가루", "전선", "전기"]
SVG(
    heat_map(
        [[float(counts.value(word, context)) for context in CONTEXTS] for word in WORDS],
        WORDS,
        CONTEXTS,
        title="행의 단어 가까이에 열의 단어가 나온 횟수",
        digits=0,
    )
)

# %% [markdown]
# ### 얼음/수증기 표
#
# *얼음*과 *수증기*를 가르는 문맥은 무엇일까요? 자주 나오는 단어가 아닙니다. 횟수를 행의 합으로 나누면
# 문맥의 확률이 됩니다. 두 단어의 확률을 **비율**로 비교해 봅시다.
#
# $$P(k \mid i) = \frac{X_{ik}}{\sum_m X_{im}}, \qquad
# \frac{P(k \mid \text{얼음})}{P(k \mid \text{수증기})}.$$
#
# 비율은 $k$가 얼음 쪽 단어(*고체*)면 크고 수증기 쪽 단어(*기체*)면 작습니다. 양쪽 모두와 어울리거나(*물*)
# 어느 쪽과도 상관없으면(*유행*) 1에 가깝습니다. Pennington 외(2014)는 60억 단어에서 solid 8.9, gas 0.085,
# water 1.36, fashion 0.96을 얻었습니다. 한 쪽짜리 글에서도 같은 그림이 나옵니다.

# %%
PAIR = ["얼음", "수증기"]
PROBES = ["고체", "기체", "물", "유행"]
table = mm.probability_table(counts, PAIR, PROBES)
table

# %% [markdown]
# ## 3. PPMI와 LSA
#
# 조사 *가*나 *이*는 아무 단어 곁에나 옵니다. 그러니 아무것도 알려 주지 않습니다. 점별 상호 정보량(PMI)은
# 두 단어가 우연보다 **얼마나 더** 자주 함께 나오는지 잽니다. 그중 0보다 큰 값만 남긴 것이 PPMI입니다.
#
# $$\mathrm{PPMI}(i, k) = \max\left(0,\ \log \frac{P(k \mid i)}{P(k)}\right).$$
#
# *가*는 우리 여덟 단어 가까이에 25번 나오지만 PPMI는 작습니다.

# %%
ppmi = mm.mutual_information(counts)
COMMON = ["가", "이", *CONTEXTS]
SVG(
    heat_map(
        [[float(ppmi.value(word, context)) for context in COMMON] for word in WORDS],
        WORDS,
        COMMON,
        title="PPMI (자연로그). 0은 우연이거나 그보다 드문 쌍",
        digits=1,
    )
)

# %% [markdown]
# 행은 아직 어휘만큼 길고 대부분 0입니다. **LSA**는 특잇값 분해 $M = U \Sigma V^\top$에서 큰 특잇값 $d$개만
# 남깁니다. $U_d \Sigma_d^{1/2}$의 $i$번째 행이 단어 $i$의 조밀한 벡터입니다. 같은 문장에 나온 적이 없어도
# 비슷한 단어와 함께 다닌 단어끼리는 가까워집니다.

# %%
lsa = mm.train_lsa(
    sentences, mm.LSA(matrix="ppmi", dim=8, window=5, min_count=1), tokenizer=TOKENIZER
)
QUERIES = ["얼음", "연어", "빵", "전등"]
Table(
    f"LSA, 단어마다 숫자 {lsa.matrix.shape[1]}개",
    ["단어", "이웃 단어"],
    [
        [word, ", ".join(f"{near.key} {near.score:.2f}" for near in mm.neighbours(lsa, word, k=4))]
        for word in QUERIES
    ],
)

# %% [markdown]
# ## 4. Word2Vec: 세는 대신 예측하기
#
# Word2Vec(Mikolov 외 2013)도 같은 윈도우를 훑지만 세지 않습니다. 단어마다 주변 단어를 예측하게 하고,
# 틀릴 때마다 벡터를 조금씩 고칩니다.
#
# **Skip-gram**은 한 단어와 윈도우 안의 단어 하나하나로 학습 쌍을 만듭니다.

# %%
tokens = split("제빵사가 빵을 굽는다")
pairs = mm.window_pairs(tokens, window=2)
Table(
    "Skip-gram: 입력 → 출력",
    ["입력", "출력"],
    [[word, ", ".join(pair.output for pair in pairs if pair.input == word)] for word in tokens],
)

# %% [markdown]
# **CBOW**(continuous bag of words)는 반대로 합니다. 윈도우의 평균으로 가운데 단어를 예측합니다.
#
# ![CBOW는 문맥에서 단어를, skip-gram은 단어에서 문맥을 예측한다](../../docs/ko/word2vec-architectures.svg)

# %%
Table(
    "CBOW: 윈도우 → 가운데 단어",
    ["윈도우", "예측할 단어"],
    [[" + ".join(pair.input for pair in pairs if pair.output == word), word] for word in tokens],
)

# %% [markdown]
# 어휘 전체에 소프트맥스를 계산하면 느립니다. 그래서 진짜 쌍(레이블 1)과 아무렇게나 뽑은 **네거티브 샘플**
# (레이블 0)을 구별하는 것만 배웁니다. 단어의 입력 벡터를 $v$, 출력 벡터를 $u$라 하면 한 쌍과 네거티브 샘플
# $K$개의 손실은 다음과 같습니다.
#
# $$-\log \sigma(u_{o} \cdot v_{i}) - \sum_{k=1}^{K} \log \sigma(-u_{k} \cdot v_{i}),
# \qquad \sigma(x) = \frac{1}{1 + e^{-x}}.$$

# %%
labelled = mm.labelled_pairs(tokens, window=2, negative_samples=2, seed=1)
Table(
    "처음 두 쌍과 각각의 네거티브 샘플 두 개",
    ["입력", "출력", "레이블"],
    [list(pair) for pair in labelled[:6]],
)

# %% [markdown]
# 우리 글로 학습하면 1초쯤 걸립니다. 글이 아주 짧아서 400번 읽습니다. 수백만 단어라면 5~15에폭이면
# 됩니다. 조사처럼 흔한 단어는 가끔 건너뜁니다(`subsample`). 거의 모든 쌍에 끼어들면서 알려 주는 것은
# 적기 때문입니다.

# %%
SMALL = dict(dim=30, window=5, min_count=1, seed=1, threads=1)
word2vec = mm.train_word2vec(sentences, mm.Word2Vec(**SMALL, epochs=400), tokenizer=TOKENIZER)
losses = json.loads(word2vec.meta["losses"])[9::10]
SVG(
    line_plot(
        range(10, 401, 10),
        {"한 쌍과 네거티브 샘플의 평균 손실": losses},
        title="Word2Vec: 에폭이 지날수록 손실이 줄어든다",
    )
)

# %%
mm.neighbours(word2vec, QUERIES, k=3)

# %% [markdown]
# 30차원은 그릴 수 없지만, 단어가 가장 많이 갈라지는 두 방향은 그릴 수 있습니다. 이 방향이 주성분이고,
# 특잇값 분해로 구합니다. 주제마다 모여 있는 곳이 다릅니다.


# %%
def plane(vectors, words):
    """단어 벡터의 첫 두 주성분, [단어, 2]."""
    rows = np.stack([vectors[word] / np.linalg.norm(vectors[word]) for word in words])
    centred = rows - rows.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
    directions *= np.sign(directions.sum(axis=1, keepdims=True))
    return centred @ directions.T


SHOWN = {
    "얼음과 수증기": "얼음 수증기 물 고체 기체 차갑 뜨겁",
    "호수": "어부 배 호수 송어 연어 그물 항구",
    "빵집": "제빵사 빵 케이크 오븐 밀가루 버터",
    "전기": "전기 기사 전선 전등 전동기 배터리",
}
words = [word for several in SHOWN.values() for word in several.split()]
groups = [topic for topic, several in SHOWN.items() for _ in several.split()]
SVG(
    scatter_plot(
        plane(word2vec, words), words, groups, title=f"문장 {len(sentences)}개로 학습한 Word2Vec"
    )
)

# %% [markdown]
# ## 5. GloVe: 센 다음, 센 값을 예측하기
#
# GloVe(Pennington 외 2014)는 동시 등장 표 자체로 벡터를 학습합니다. 벡터의 내적이 횟수의 로그가 되게
# 합니다.
#
# $$J = \sum_{i,k} f(X_{ik}) \left(w_i \cdot c_k + b_i + d_k - \log X_{ik}\right)^2,
# \qquad f(x) = \min\left(1, (x / x_{\max})^{\alpha}\right).$$
#
# 그러면 벡터의 차이는 **비율**의 로그가 됩니다. *얼음*의 식에서 *수증기*의 식을 빼면, 문맥 $k$가 둘 중
# 어느 쪽인지만 남습니다.
#
# $$(w_{\text{얼음}} - w_{\text{수증기}}) \cdot c_k + b_{\text{얼음}} - b_{\text{수증기}}
# \approx \log \frac{X_{\text{얼음},k}}{X_{\text{수증기},k}}.$$
#
# 가중치 f는 우연에 가까운 드문 쌍의 영향을 줄입니다.
#
# ![f(x)는 x_max에서 1이 되고 더 커지지 않는다](../../docs/ko/glove-weight.svg)
#
# 아래 표의 마지막 두 열이 서로 맞아야 합니다.

# %%
from malmoi.train.glove.glove import train_glove_tables

trained = train_glove_tables(counts, mm.GloVe(dim=20, x_max=5, iterations=200, seed=1, threads=1))
first, second = (counts.vocabulary.id(word) for word in PAIR)
difference = trained.words[first] - trained.words[second]
bias = trained.word_biases[first] - trained.word_biases[second]
rows = []
for context in PROBES:
    times = [float(counts.value(word, context)) for word in PAIR]
    predicted = difference @ trained.contexts[counts.vocabulary.id(context)] + bias
    rows.append([context, *times, float(np.log(times[0] / times[1])), float(predicted)])
Table("GloVe는 비율의 로그에 맞춘다", ["k", *PAIR, "비율의 로그", "벡터로 계산"], rows)

# %% [markdown]
# ## 6. FastText: 단어는 n-gram으로 이루어진다
#
# Word2Vec에게 *제빵사가*와 *제빵사는*은 표의 두 줄일 뿐이고, 아무 단어 둘만큼이나 다릅니다. FastText
# (Bojanowski 외 2017)는 n-gram에도 벡터를 줍니다. 단어의 벡터는 자기 행과 n-gram $G_w$의 행을 평균한
# 값입니다.
#
# $$v_w = \frac{1}{1 + |G_w|}\Bigl(z_w + \sum_{g \in G_w} z_g\Bigr).$$
#
# 처음 보는 단어의 벡터는 아는 n-gram의 평균입니다. `<`와 `>`는 단어의 처음과 끝입니다. 이번에는 형태소로
# 나누지 않고 어절 그대로 학습합니다. 학습한 글에 없는 조사가 붙어도(*제빵사에게*), 합성어가 되어도
# (*전기배터리*), 오타가 나도(*제뻥사가*) 벡터가 나옵니다. malmoi는 벡터가 어디서 왔는지 알려 줍니다.
# 근거가 없으면 지어내지 않습니다. *뷁*에는 벡터가 없습니다.
#
# ![처음 보는 단어도 아는 단어와 n-gram을 나눈다](../../docs/ko/fasttext-jamo.svg)

# %%
fasttext = mm.train_fasttext(sentences, mm.FastText(**SMALL, epochs=400, units="jamo"))
UNSEEN = ["제빵사에게", "전기배터리", "제뻥사가", "뷁"]
Table(
    "글에 없는 어절",
    ["어절", "벡터의 출처"],
    [[word, str(fasttext.explain(word))] for word in UNSEEN],
)

# %%
mm.neighbours(fasttext, UNSEEN[0], k=5)

# %% [markdown]
# ### 왜 자모인가
#
# 한글 음절은 글자 하나이고, 한국어 단어는 대개 두 글자에서 네 글자입니다. 세 음절짜리 n-gram은 거의 단어
# 전체라서, 손가락이 한 번만 미끄러져도 n-gram이 모두 바뀝니다. 그런데 음절은 자모로 이루어져 있습니다.
# `units="jamo"`로 자모의 n-gram을 쓰면 오타가 난 단어에도 원래 n-gram이 많이 남습니다(Park 외 2018).
# 아래 표에서 강이지는 강아지의, 고앵이는 고양이의 오타입니다. 산책길은 산책으로 만든 새 단어입니다.
# ∅는 받침이 없다는 표시입니다.

# %%
KOREAN = """
강아지가 공원에서 산책을 한다
강아지는 마당에서 공을 물고 논다
강아지와 고양이가 마당에서 논다
고양이는 창가에서 낮잠을 잔다
고양이가 생선을 먹고 낮잠을 잔다
아침마다 강아지와 공원으로 산책을 간다
은행에서 돈을 찾아 시장에 간다
시장에서 생선을 사고 돈을 낸다
은행은 돈을 빌려주고 이자를 받는다
""".strip().splitlines()
by_syllable = mm.train_fasttext(KOREAN, mm.FastText(**SMALL, epochs=400))
by_jamo = mm.train_fasttext(KOREAN, mm.FastText(**SMALL, epochs=400, units="jamo"))


def known(vectors, word):
    """단어의 n-gram 가운데 아는 것의 수."""
    explained = vectors.explain(word)
    return f"{len(explained.ngrams)} / {explained.all_ngrams}"


header = ["단어", "자모", "음절 n-gram", "자모 n-gram", "자모로 찾은 이웃"]
Table(
    "아는 n-gram / 전체",
    header,
    [
        [
            word,
            mm.split_jamo(word),
            known(by_syllable, word),
            known(by_jamo, word),
            mm.neighbours(by_jamo, word, k=1)[0].key,
        ]
        for word in ["강이지", "고앵이", "산책길"]
    ],
)

# %% [markdown]
# ## 7. 진짜 벡터로 유추하기
#
# 우리 글은 한 쪽뿐입니다. `glove-6b-50d`는 GloVe 저자들이 영어 위키백과와 뉴스 60억 단어로 학습한
# 벡터이고, 패키지로 설치됩니다. 벡터의 차이가 관계를 나타낸다면
#
# $$v_{\text{king}} - v_{\text{man}} + v_{\text{woman}} \approx v_{\text{queen}}$$
#
# 이어야 합니다. 세 단어를 빼고 이 합에 가장 가까운 단어가 유추의 답입니다. *korea − seoul + tokyo*는
# "서울이 한국의 수도라면 도쿄는 어느 나라의 수도인가"라는 물음입니다.

# %%
glove = mm.load("glove-6b-50d")
EXPRESSIONS = [
    "king - man + woman",
    "korea - seoul + tokyo",
    "paris - france + italy",
    "swimming - swim + walk",
    "worse - bad + good",
]
Table(
    "유추",
    ["", "가장 가까운 단어", "다음 단어"],
    [
        [
            expression,
            *(f"{near.key} {near.score:.3f}" for near in mm.analogy(glove, expression, k=2)),
        ]
        for expression in EXPRESSIONS
    ],
)

# %% [markdown]
# 유추가 늘 맞지는 않습니다. 맞으면 안 되는 것도 있습니다. 벡터는 글에 적힌 대로 배우므로 편견도 함께
# 배웁니다. 아래 첫 단어는 신문이 그렇게 썼다는 뜻이지, 의사에 관한 사실이 아닙니다.

# %%
mm.analogy(glove, "doctor - man + woman", k=3)

# %% [markdown]
# 나라와 수도의 지도입니다. 나라에서 수도로 가는 방향이 서로 비슷합니다. 유추는 바로 이 방향을 씁니다.

# %%
CAPITALS = {
    "korea": "seoul",
    "japan": "tokyo",
    "china": "beijing",
    "france": "paris",
    "italy": "rome",
    "germany": "berlin",
    "spain": "madrid",
    "russia": "moscow",
}
words = [*CAPITALS, *CAPITALS.values()]
groups = ["나라"] * len(CAPITALS) + ["수도"] * len(CAPITALS)
SVG(scatter_plot(plane(glove, words), words, groups, title="GloVe: 나라와 수도"))

# %% [markdown]
# ## 내 글로 해 보기
#
# 한 줄에 한 문장 이상 적은 텍스트 파일을 이 노트북 옆에 두고, 아래에 파일 이름을 적은 다음 셀을 다시
# 실행하세요. 설정은 한 쪽짜리 글에 맞춘 것입니다. 백만 단어쯤 되면 기본값 `mm.FastText(units="jamo")`를
# 쓰세요.

# %%
from pathlib import Path

MY_FILE = "my-text.txt"
text = MY_FILE if Path(MY_FILE).exists() else sentences
settings = mm.FastText(**SMALL, epochs=400)
mine = mm.train_fasttext(text, settings, tokenizer=TOKENIZER)
frequent = [word for word in mine.keys if len(word) > 1][8:13]
mm.neighbours(mine, frequent, k=4)
