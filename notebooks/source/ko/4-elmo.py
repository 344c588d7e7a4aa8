# %% [markdown]
# # ELMo: 문맥 속의 단어 벡터
#
# *단어를 벡터로* 노트북에서 *배*의 벡터는 하나뿐입니다. 타는 배든 먹는 배든 같습니다. ELMo(Peters 외 2018)는
# 단어가 **나올 때마다** 다른 벡터를 줍니다. 이 노트북에서 볼 것은 다음과 같습니다.
#
# 1. **문자 CNN**: 단어를 글자 단위로 읽으므로 모르는 단어가 없습니다.
# 2. **양방향 언어 모델**(biLM): 여기서 몇 초 만에 사전 학습합니다.
# 3. **세 층**: 층마다 *배*를 어떻게 보는지 비교합니다.
# 4. **가중치 $s_j$와 $\gamma$**: 층의 가중 합을 NumPy로 확인합니다.
# 5. **과제**: 광고 문자를 가려냅니다. 층의 가중치는 과제가 배웁니다.
#
# 모델은 아주 작고 문장 수백 개만 읽습니다. 그래서 처음부터 끝까지 지켜볼 수 있습니다. 문장은 틀에 단어를
# 끼워 만들었습니다. 인터넷 없이 1분이면 끝납니다. 필요한 패키지는
# `pip install "malmoi[train]" ipykernel`로 설치합니다.

# %%
import itertools
import random
import warnings
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from IPython.display import SVG

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.line_plot import line_plot
from malmoi.table import Table
from malmoi.text.character_ids import character_ids, word_ids

warnings.simplefilter("ignore", mm.MalmoiWarning)  # 말뭉치가 작다는 경고: 일부러 작게 했습니다

# 바꿔 쓸 수 있는 단어를 |로 나눕니다.
PATTERNS = """
어부가|선장이|선원이 배를 타고 바다로|섬으로|항구로 간다|떠난다|돌아온다
어부가|선장이|선원이 배를 저어 바다로|섬으로|항구로 간다|떠난다
큰|낡은|하얀 배를 바다에|항구에|섬에 띄운다|댄다
할머니가|농부가|손님이 배를 깎아 접시에|그릇에|바구니에 담는다|놓는다|올린다
할머니가|농부가|손님이 배를 씻어 접시에|그릇에|바구니에 담는다|놓는다
달콤한|시원한|싱싱한 배를 시장에서|과수원에서|가게에서 산다|판다
고양이가|강아지가|말이 부엌에서|마당에서|들판에서 잔다|먹는다|걷는다
고양이가|강아지가|말이 바다로|마당으로|들판으로 걷는다|걸었다|뛴다|뛰었다
"""
WORD = "배"
SENSED = {  # 학습에서 빼 둡니다
    "선원이 배를 타고 섬으로 떠난다": "타는 배",
    "어부가 배를 타고 항구로 돌아온다": "타는 배",
    "선장이 배를 타고 바다로 간다": "타는 배",
    "손님이 배를 깎아 그릇에 놓는다": "먹는 배",
    "할머니가 배를 깎아 접시에 담는다": "먹는 배",
    "농부가 배를 깎아 바구니에 올린다": "먹는 배",
}


def sentences_of(pattern):
    """틀 하나로 만들 수 있는 모든 문장."""
    slots = [slot.split("|") for slot in pattern.split()]
    return [" ".join(words) for words in itertools.product(*slots)]


lines = [line for pattern in PATTERNS.strip().splitlines() for line in sentences_of(pattern)]
text = [line for line in lines if line not in SENSED]
random.Random(1).shuffle(text)
Table("우리 글의 문장 몇 개", ["", "문장"], list(enumerate(text[:6], 1)))

# %% [markdown]
# ## 1. 글자
#
# ELMo에는 단어마다 한 줄씩 있는 표가 없습니다. 단어의 **바이트**를 읽고, 앞뒤에 시작(258)과 끝(259) 표시를
# 붙이고, 남는 자리는 260으로 채웁니다. 한글 음절 하나는 UTF-8로 3바이트인데, 바이트 하나하나에는 뜻이
# 없습니다. 그래서 malmoi는 한글을 자모로 읽을 수 있게 했습니다. 강아지는 9바이트 대신 자모 7개가 됩니다.

# %%
Table(
    "단어를 글자 번호로",
    ["단어", "단위", "번호", "신경망이 보는 것"],
    [
        [
            word,
            units,
            str(word_ids(word, units)),
            str(character_ids([word], 14, units)[0].tolist()),
        ]
        for word, units in [("cat", "bytes"), ("강아지", "bytes"), ("강아지", "jamo")]
    ],
)

# %% [markdown]
# 글자마다 벡터가 있습니다. 너비가 $w$인 **필터**는 단어를 따라 미끄러지면서 한 번에 $w$글자씩 봅니다. 위치마다
# 구한 값 가운데 최댓값을 취하면, 필터가 단어 어딘가에 얼마나 잘 맞는지 알 수 있습니다.
#
# $$f_k = \max_i\ g\bigl(W_k \cdot [c_i, \dots, c_{i+w-1}] + b_k\bigr)$$
#
# 어떤 필터는 조사 *에서*를, 어떤 필터는 *강아*를 알아보게 됩니다. 필터 여러 개의 값을 모아 하이웨이 층과
# 투영을 거치면 단어의 벡터가 됩니다. 이것이 **0층**입니다.
#
# ## 2. 양방향 언어 모델
#
# 글자 위에서 LSTM 하나는 문장을 왼쪽에서 오른쪽으로 읽으며 다음 단어를 예측하고, 다른 하나는 거꾸로 읽으며
# 앞 단어를 예측합니다. 둘을 함께 학습합니다.
#
# $$\sum_{k=1}^{N} \Bigl(\log P(t_k \mid t_1, \dots, t_{k-1}) + \log P(t_k \mid t_{k+1}, \dots, t_N)\Bigr)$$
#
# ![문자 CNN 위에서 두 층의 LSTM이 문장을 양방향으로 읽는다](../../docs/ko/elmo-bilm.svg)
#
# 레이블은 필요 없습니다. 다음 단어가 무엇인지는 글이 알려 주니까요. 그래서 *사전* 학습이라고 부릅니다. 우리
# 모델은 층마다 2 × 48차원입니다. 공개된 모델은 2 × 512차원이고 10억 단어를 읽었습니다.

# %%
settings = mm.Elmo(
    characters="jamo",
    dim=48,
    filters=((1, 16), (2, 16), (3, 32), (4, 32)),
    min_count=1,
    held_out=0.1,
    epochs=40,
    batch_size=256,
    eval_steps=30,
    learning_rate=0.01,
    seed=1,
    threads=1,
)
pretrained = mm.train_elmo(text, settings, tokenizer="english")
folder = Path(mkdtemp()) / "tiny-elmo"
mm.save_elmo(pretrained, folder)
elmo = mm.load_contextual(folder)
steps, perplexities = zip(*pretrained.history, strict=True)
SVG(
    line_plot(
        steps,
        {"따로 떼어 둔 문장의 퍼플렉시티(양방향 평균)": perplexities},
        title="사전 학습 단계",
    )
)

# %%
Table(
    "따로 떼어 둔 문장의 퍼플렉시티",
    ["모델", "퍼플렉시티"],
    [
        ["Kneser–Ney 바이그램", pretrained.ngrams.bigram],
        ["Kneser–Ney 트라이그램", pretrained.ngrams.trigram],
        ["ELMo, 정방향", pretrained.perplexity.forward],
        ["ELMo, 역방향", pretrained.perplexity.backward],
    ],
)

# %% [markdown]
# 트라이그램은 앞 두 단어만 보고, 본 적 없는 조합에는 확률을 조금씩만 나누어 줍니다. LSTM은 문장을 처음부터 읽고,
# 비슷한 단어에서 배운 것도 함께 씁니다.
#
# ### 처음 보는 단어
#
# 0층은 철자를 압니다. 왼쪽 어절은 글에 나오지 않습니다. 가장 가까운 어절은 글자가 비슷하거나 조사가 같습니다.
# 뜻까지 아는 것은 아니지만, 그 위의 층이 문맥을 더해 줍니다.

# %%
vocabulary = sorted({word for line in text for word in line.split()})


def layer_0(words):
    """글자만으로 구한 단어 벡터, 길이 1, [단어, 차원]."""
    rows = [one.matrix[0] for one in elmo.activations([[word] for word in words]).words(layers=0)]
    return np.stack([row / np.linalg.norm(row) for row in rows])


known = layer_0(vocabulary)
UNSEEN = ["강아지는", "어부는", "공원에서", "할머니와", "섬에서"]
rows = []
for word, cosines in zip(UNSEEN, layer_0(UNSEEN) @ known.T, strict=True):
    best = np.argsort(-cosines)[:3]
    rows.append([word, ", ".join(f"{vocabulary[i]} {cosines[i]:.2f}" for i in best)])
Table("0층에서 가장 가까운 어절", ["처음 보는 어절", "가까운 어절"], rows)

# %% [markdown]
# ## 3. 세 층
#
# 문장 속 단어에는 벡터가 세 개 있습니다. $h_0$은 글자에서, $h_1$과 $h_2$는 LSTM에서 나오고, 양방향 출력을 이어
# 붙인 것입니다. 0층에서는 *배를*이 모두 같습니다. 위층에서는 뜻이 같은 것끼리 더 가까워야 합니다.
#
# 학습에서 빼 둔 문장 여섯 개로 확인합니다. 문장의 짜임은 같고 *배*의 뜻만 다릅니다.

# %%
texts, senses = list(SENSED), list(SENSED.values())
layers = [mm.occurrences(elmo, WORD, texts, layers=layer).matrix for layer in (0, 1, 2)]
unit = [matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in layers]
same = np.array(senses)[:, None] == np.array(senses)[None]
others = ~np.eye(len(texts), dtype=bool)
Table(
    f"{WORD}끼리의 평균 코사인",
    ["층", "같은 뜻", "다른 뜻"],
    [
        [str(j), float((rows @ rows.T)[same & others].mean()), float((rows @ rows.T)[~same].mean())]
        for j, rows in enumerate(unit)
    ],
)

# %%
names = [f"{sense} {number}" for number, sense in enumerate(senses, 1)]
SVG(
    heat_map(
        (unit[2] @ unit[2].T).tolist(),
        names,
        names,
        title=f"{WORD}끼리의 코사인, 2층",
        digits=2,
    )
)

# %% [markdown]
# ## 4. 가중 합
#
# 아래층은 형태를, 위층은 뜻을 더 잘 압니다. ELMo는 어느 층을 쓸지 과제에 맡깁니다. 논문의 식 1은 층의
# 가중 합입니다.
#
# $$\mathrm{ELMo}_k = \gamma \sum_{j=0}^{2} s_j\, h_{k,j}, \qquad s = \mathrm{softmax}(w)$$
#
# $w$는 숫자 세 개이고, 소프트맥스를 거치면 층마다의 몫이 됩니다. $\gamma$는 전체 크기를 정하는 숫자 하나입니다.
#
# ![단어의 벡터는 세 층의 가중 합에 γ를 곱한 것이다](../../docs/ko/elmo-layers.svg)
#
# 같은 합을 한 번은 `Recipe`로, 한 번은 NumPy로 구해 봅시다.

# %%
weights, gamma = (0.0, 1.0, 0.5), 1.2
recipe = mm.Recipe(layers="all", layer_pooling="weighted", weights=weights, scale=gamma)
by_recipe = mm.occurrences(elmo, WORD, texts, recipe=recipe).matrix
shares = np.exp(weights) / np.exp(weights).sum()
by_hand = gamma * sum(share * layer for share, layer in zip(shares, layers, strict=True))
Table(
    "γ = 1.2, w = (0, 1, 0.5)일 때",
    ["", ""],
    [
        ["몫 s", ", ".join(f"{share:.3f}" for share in shares)],
        ["Recipe로 구한 처음 네 수", ", ".join(f"{x:.4f}" for x in by_recipe[0, :4])],
        ["NumPy로", ", ".join(f"{x:.4f}" for x in by_hand[0, :4])],
        ["1e-5 안에서 같은가", str(bool(np.allclose(by_recipe, by_hand, atol=1e-5)))],
    ],
)

# %% [markdown]
# ## 5. 과제: 광고 문자 가려내기
#
# malmoi에는 광고(`ad`)와 일반(`other`) 문자 240개가 한국어와 영어로 들어 있습니다. `learn_layer_weights`는 선형
# 분류기와 함께 $s$와 $\gamma$를 배웁니다. 그런 다음 처음 보는 문자로 층 하나하나와 층의 평균, 배운 가중 합을
# 시험합니다.

# %%
table = (files("malmoi.cli.demo") / "messages.tsv").read_text("utf-8").splitlines()[1:]
messages = [tuple(line.split("\t")) for line in table]
Table("문자 몇 개", ["문자", "레이블"], [list(message) for message in messages[:6]])

# %%
result = mm.learn_layer_weights(
    elmo, messages, mm.LayerSettings(test_share=0.3, seed=1), reporter=mm.SilentReporter()
)
result

# %% [markdown]
# 차이를 보기 전에 신뢰 구간부터 보세요. 테스트 문자가 72개뿐이라 차이는 대부분 우연일 수 있습니다. 모델이
# 무엇을 읽었는지도 잊지 마세요. 틀로 만든 문장만 읽었고, 문자 메시지는 하나도 읽지 않았습니다. 글자 n-gram
# 선형 분류기는 사전 학습이 필요 없습니다. 이 점수와 견주어야 합니다.

# %%
baseline = mm.train_classifier(
    messages, mm.NgramClassifier(test_share=0.3, seed=1), reporter=mm.SilentReporter()
)
Table(
    "정확도(%)",
    ["분류기", "정확도"],
    [
        ["ELMo, 배운 가중치", f"{100 * result.learned.value:.1f}"],
        ["글자 n-gram", f"{100 * baseline.scores.accuracy.value:.1f}"],
    ],
)

# %% [markdown]
# ELMo는 어휘에 없는 단어가 많을 때, 내 분야의 언어 모델을 직접 만들고 싶을 때(수백만 단어로 30분쯤 사전
# 학습합니다), 그리고 그 뒤에 나온 모델을 이해할 때 쓸모가 있습니다. BERT는 LSTM을 어텐션으로 바꾸었지만 생각은
# 같습니다. 글만으로 사전 학습하고, 어느 층을 쓸지는 과제가 고릅니다.
#
# ## 내 글로 해 보기
#
# 한 줄에 한 문장씩 수천 줄 이상 적은 텍스트 파일을 이 노트북 옆에 두고, 아래에 파일 이름을 적은 다음 셀을
# 다시 실행하세요. `minutes`를 주면 정한 시간 안에 학습을 마칩니다.

# %%
MY_FILE = "my-text.txt"
my_text = MY_FILE if Path(MY_FILE).exists() else text
mine = mm.train_elmo(
    my_text,
    mm.Elmo(dim=32, epochs=10, batch_size=512, held_out=0.1, seed=1, threads=1),
    tokenizer="english",
)
mine
